// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/plan/thread_placement.hpp"

namespace weftline {

/// What a thread said of itself when it had taken its place.
struct ThreadObservation {
  std::uint32_t thread_id{0};     ///< Linux' number of it, as in /proc/self/task.
  CpuAffinity affinity{};         ///< The CPUs that it may run on.
  CpuAffinity isolated{};         ///< Those of them that the scheduler keeps others away from.
  ThreadScheduling scheduling{};  ///< kOther also for policies that Weftline does not know.
  std::uint32_t cpu{0};           ///< Where it ran just then.
};

/// One thread of a session: what its deployment asks for, what of it the system took, and what was
/// read back on the thread itself before the run was armed.
struct ThreadPlacementReport {
  std::string thread{};  ///< "partition camera", "the controller's thread", "the channels' thread"
  ThreadPlacement requested{};
  /// As requested, less what was refused. Without an affinity: that of the thread's maker.
  ThreadPlacement accepted{};
  ThreadObservation observed{};
  /// Each part that was not given, with the system's reason: RUN_AFFINITY_REFUSED,
  /// RUN_SCHEDULING_REFUSED, RUN_ISOLATION_MISSING.
  std::vector<Error> refused{};
};

}  // namespace weftline
