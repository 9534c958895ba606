// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_steps.hpp"

namespace weftline::runtime {

/// The ports of the plan's exports; needs the lanes that they wake.
[[nodiscard]] expected<void, Error> make_exports(SessionBuild& build);
void drop_exports(SessionResources& resources) noexcept;

/// The ports of the plan's imports and the queues that they fill; needs operators.
[[nodiscard]] expected<void, Error> make_imports(SessionBuild& build);
void drop_imports(SessionResources& resources) noexcept;

}  // namespace weftline::runtime
