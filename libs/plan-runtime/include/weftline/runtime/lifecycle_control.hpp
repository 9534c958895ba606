// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "weftline/graph/lifecycle_receipt.hpp"

namespace weftline {

namespace runtime {
class RestartDesk;
}

/// Asks a session to restart operators, as far as its plan lets somebody outside of the graph do so
/// (`Graph::allow_external_restart()` and `CompileOptions::lifecycle_transactions`). Copyable, any
/// thread. Keeps no session alive: when that has ended, requests are rejected.
class LifecycleControlHandle {
 public:
  /// Returns at once, with a receipt that tells what becomes of it. Rejected on the spot:
  /// RESTART_DISABLED (the plan has no transactions), RESTART_TARGET_UNKNOWN, RESTART_NOT_GRANTED,
  /// RESTART_STAGE_INVALID (no forward stage), RESTART_STAGE_NOT_ADMITTED (earlier than the
  /// grant's), RESTART_PENDING_FULL (max_pending_requests wait already), RESTART_SESSION_ENDING.
  /// Rejected when its turn comes, with nothing touched: RESTART_TARGET_FINISHED (an operator of
  /// the closure has closed its outputs, and no stream opens again), and the refusals of an import
  /// that would have to be given to another producer (IMPORT_…; kBackpressured may be asked again).
  LifecycleReceipt request_restart(std::string_view operator_path,
                                   const LifecycleRestartOptions& options = {}) const;

  explicit LifecycleControlHandle(std::shared_ptr<runtime::RestartDesk> desk) noexcept
      : desk_(std::move(desk)) {}

 private:
  std::shared_ptr<runtime::RestartDesk> desk_;
};

}  // namespace weftline
