// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "weftline/graph/execution_plan.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline {

/// Who answers SIGINT and SIGTERM while run() blocks.
enum class RunSignalPolicy : std::uint8_t {
  /// run() does: the first one is a request_stop(), further ones change nothing. Takes the
  /// ManagedShutdownSignals of the process, which serve one run; without one, the process must have
  /// exactly one thread. Otherwise refused before anything is made
  /// (RUNTIME_MANAGED_SIGNAL_DOMAIN_REQUIRED).
  kManaged = 0,
  kCallerManaged,  ///< The caller does. Nothing stops this run but itself.
};

/// Runs a plan to its end on this thread. 0 when it completed; 1 when it failed or was refused; 2
/// when it was stopped. Diagnostics and warnings are printed to the standard error, a line each.
/// Blocks for as long as the run goes on: nothing bounds that. Throws nothing.
[[nodiscard]] int run(const ExecutionPlan& plan,
                      RunSignalPolicy signals = RunSignalPolicy::kManaged,
                      const RunOptions& options = {});

}  // namespace weftline
