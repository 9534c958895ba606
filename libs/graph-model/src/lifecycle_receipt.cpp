// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/lifecycle_receipt.hpp"

namespace weftline {

std::string_view lifecycle_transaction_state_name(LifecycleTransactionState state) noexcept {
  switch (state) {
    case LifecycleTransactionState::kRequested:
      return "requested";
    case LifecycleTransactionState::kCoalesced:
      return "coalesced";
    case LifecycleTransactionState::kQuiescing:
      return "quiescing";
    case LifecycleTransactionState::kStopping:
      return "stopping";
    case LifecycleTransactionState::kStarting:
      return "starting";
    case LifecycleTransactionState::kCommitted:
      return "committed";
    case LifecycleTransactionState::kRolledBack:
      return "rolled_back";
    case LifecycleTransactionState::kFailedStopped:
      return "failed_stopped";
    case LifecycleTransactionState::kRejected:
      return "rejected";
  }
  return "unknown";
}

}  // namespace weftline
