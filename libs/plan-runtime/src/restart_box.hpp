// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "restart_receipt.hpp"

namespace weftline::runtime {

/// Where one operator asks for restarts of one target: one request at a time, put in by the
/// operator's lane without waiting or allocating, taken out by whoever holds the desk's mutex.
///
/// `state_` says whose the rest is. kFree: the lane's, which writes the request and stores kAsked.
/// kAsked and kKnown: the mutex', until the request is final and kFree is stored, with a new
/// receipt in its place. Both stores are seq_cst: kAsked is a condition that the controller sleeps
/// on (see Parker), and kFree one that the lane waits for at the gate.
class RestartBox {
 public:
  RestartBox(std::shared_ptr<RestartBoard> board, VertexId target, std::string_view place)
      : board_(std::move(board)), target_(target), place_(place) {
    refill();
  }
  RestartBox(const RestartBox&) = delete;
  RestartBox& operator=(const RestartBox&) = delete;

  // The operator's lane.

  [[nodiscard]] bool free() const noexcept {
    return state_.load(std::memory_order_seq_cst) == State::kFree;
  }
  /// While it is free.
  [[nodiscard]] LifecycleReceipt ask(std::uint64_t id, LifecycleStage stage,
                                     std::string_view reason) noexcept {
    next_->id = id;
    next_->reason.assign(reason);  // within what refill() reserved
    ReceiptView& view = next_->transaction->view;
    view.transaction_id = id;
    view.effective_stage = stage;
    view.reason.assign(reason);
    LifecycleReceipt receipt(next_);
    state_.store(State::kAsked, std::memory_order_seq_cst);
    return receipt;
  }

  // Under the desk's mutex.

  /// The receipt of a request that nobody has seen yet; else null.
  [[nodiscard]] RestartReceipt* take() noexcept {
    if (state_.load(std::memory_order_seq_cst) != State::kAsked) return nullptr;
    state_.store(State::kKnown, std::memory_order_relaxed);
    return next_.get();
  }
  /// That transaction is final: where it was this request's, the lane may ask again.
  void settle(const RestartTransaction& transaction) {
    const bool mine = state_.load(std::memory_order_relaxed) == State::kKnown &&
                      next_->transaction.get() == &transaction;
    if (!mine) return;
    last_ = std::move(next_);
    refill();
    state_.store(State::kFree, std::memory_order_seq_cst);
  }

 private:
  enum class State : std::uint8_t { kFree = 0, kAsked, kKnown };
  void refill() {
    next_ = std::make_shared<RestartReceipt>(board_);
    next_->reason.reserve(kMaximumRestartReason);
    next_->transaction->target = target_;
    next_->transaction->place = place_;
    next_->transaction->view.reason.reserve(kMaximumRestartReason);
  }

  const std::shared_ptr<RestartBoard> board_;
  const VertexId target_;
  const std::string place_;
  std::shared_ptr<RestartReceipt> next_{};
  std::shared_ptr<RestartReceipt> last_{};  ///< So that an operator that drops its copy frees none.
  std::atomic<State> state_{State::kFree};
};

}  // namespace weftline::runtime
