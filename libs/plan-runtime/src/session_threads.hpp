// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session_steps.hpp"
#include "weftline/plan/thread_placement.hpp"

namespace weftline::runtime {

/// What the plan asks for a thread that runs no lane; nothing: where its maker runs.
[[nodiscard]] std::optional<ThreadPlacement> asked_for(const PlanRecords& plan,
                                                       SupportThreadRole role);
/// How reports and warnings call it.
[[nodiscard]] std::string thread_name(SupportThreadRole role);

/// Keeps the report for RunSession::thread_placements(); an error where the plan does not let the
/// run go without what was refused.
[[nodiscard]] expected<void, Error> admit(SessionResources& resources,
                                          const ThreadPlacementReport& report);

/// Makes the lanes' threads, each in its place, where they wait to be started. On the thread that
/// builds: what nobody asks for they inherit from there, and not from a placed controller.
[[nodiscard]] expected<void, Error> make_threads(SessionBuild& build);
/// Waits for their end: those that were never started end without any work.
void join_threads(SessionResources& resources) noexcept;

}  // namespace weftline::runtime
