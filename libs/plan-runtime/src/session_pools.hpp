// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_steps.hpp"

namespace weftline::runtime {

/// Every slot, event and release list that the plan counts.
[[nodiscard]] expected<void, Error> make_pools(SessionBuild& build);
void drop_pools(SessionResources& resources) noexcept;

}  // namespace weftline::runtime
