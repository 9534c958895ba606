// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_build.hpp"

namespace weftline::runtime {

[[nodiscard]] expected<void, Error> make_clocks(SessionBuild& build);
/// Lanes without threads: these start when every operator has started.
[[nodiscard]] expected<void, Error> make_observation(SessionBuild& build);
[[nodiscard]] expected<void, Error> make_lanes(SessionBuild& build);
/// Fresh instances of the users' operators, with their lane, pools and exports.
[[nodiscard]] expected<void, Error> make_operators(SessionBuild& build);
/// The queues between them.
[[nodiscard]] expected<void, Error> make_edges(SessionBuild& build);

}  // namespace weftline::runtime
