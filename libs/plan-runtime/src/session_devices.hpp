// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_steps.hpp"

namespace weftline::runtime {

/// Opens every device that an operator or a pool is on, and no other.
[[nodiscard]] expected<void, Error> make_devices(SessionBuild& build);
/// The plan's streams, on the SMs that it sets apart for them.
[[nodiscard]] expected<void, Error> make_streams(SessionBuild& build);
void drop_devices(SessionResources& resources) noexcept;
void drop_streams(SessionResources& resources) noexcept;

}  // namespace weftline::runtime
