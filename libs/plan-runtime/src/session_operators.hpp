// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_steps.hpp"

namespace weftline::runtime {

[[nodiscard]] expected<void, Error> make_clocks(SessionBuild& build);
/// Lanes without threads: these start when every operator has started.
[[nodiscard]] expected<void, Error> make_observation(SessionBuild& build);
[[nodiscard]] expected<void, Error> make_lanes(SessionBuild& build);
/// Fresh instances of the users' operators, with their lane, pools and exports.
[[nodiscard]] expected<void, Error> make_operators(SessionBuild& build);
/// The queues between them.
[[nodiscard]] expected<void, Error> make_edges(SessionBuild& build);

void drop_clocks(SessionResources& resources) noexcept;
void drop_observation(SessionResources& resources) noexcept;
void drop_lanes(SessionResources& resources) noexcept;
void drop_operators(SessionResources& resources) noexcept;
void drop_edges(SessionResources& resources) noexcept;

}  // namespace weftline::runtime
