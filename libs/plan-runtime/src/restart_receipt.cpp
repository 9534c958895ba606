// SPDX-License-Identifier: Apache-2.0
#include "restart_receipt.hpp"

namespace weftline::runtime {

ReceiptView RestartReceipt::view() const {
  const std::lock_guard lock(board->mutex);
  ReceiptView view = transaction->view;
  if (view.transaction_id == id) return view;
  view.coalesced_into = view.transaction_id;
  view.transaction_id = id;
  view.reason = reason;
  if (view.state == LifecycleTransactionState::kRequested) {
    view.state = LifecycleTransactionState::kCoalesced;
  }
  return view;
}

bool RestartReceipt::wait_until(std::chrono::steady_clock::time_point deadline) const {
  std::unique_lock lock(board->mutex);
  return board->changed.wait_until(lock, deadline,
                                   [this] { return is_final(transaction->view.state); });
}

}  // namespace weftline::runtime
