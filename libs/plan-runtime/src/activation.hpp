// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "session_steps.hpp"

namespace weftline::runtime {

/// Brings made resources to life, on the controller's thread: the stages of the lifecycle with a
/// barrier after each, the proofs read again right before kArm, the peers that must be there, and
/// at last the lanes' threads. A step ends as kInterrupted (RUN_STOPPED) when the run is to end.
[[nodiscard]] std::span<const SessionStep> activation_steps() noexcept;

}  // namespace weftline::runtime
