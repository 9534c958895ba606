// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_build.hpp"

namespace weftline::runtime {

/// The publishers of the plan's exports; needs the lanes that they wake.
[[nodiscard]] expected<void, Error> make_exports(SessionBuild& build);

}  // namespace weftline::runtime
