// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/plan/lifecycle_stage.hpp"

namespace weftline {

// What a request to restart an operator says, and what becomes of it.

struct LifecycleRestartOptions {
  /// The forward stage that the restart begins with; not earlier than the grant's, which is also
  /// what an absent one means. It begins earlier than asked where a member of the closure waits on
  /// a source that is bound in kArm.
  std::optional<LifecycleStage> from_stage{};
  std::string reason{};  ///< For people; kept in the receipt.
};

/// The longest reason that an operator can give, in bytes.
inline constexpr std::size_t kMaximumRestartReason = 120;

/// What an operator asks for in compute(). Holds nothing: it may be made of literals.
struct RestartRequest {
  std::string_view target{};  ///< An operator's path; empty: the one that asks.
  /// As in LifecycleRestartOptions.
  std::optional<LifecycleStage> from_stage{};
  /// For people; the receipt keeps kMaximumRestartReason bytes of it.
  std::string_view reason{};
};

/// How far a request has come. The last four are final.
enum class LifecycleTransactionState : std::uint8_t {
  kRequested = 0,
  kCoalesced,      ///< Waits as a part of an earlier request of the same target.
  kQuiescing,      ///< Every lane is being brought to stand between two activations.
  kStopping,       ///< The closure goes down, in reverse of its start order.
  kStarting,       ///< The candidate goes up, stage by stage.
  kCommitted,      ///< The candidate runs.
  kRolledBack,     ///< The candidate failed; what ran before runs again.
  kFailedStopped,  ///< Neither could be had: the run has failed.
  kRejected,       ///< Nothing was touched.
};

[[nodiscard]] constexpr bool is_final(LifecycleTransactionState state) noexcept {
  return state >= LifecycleTransactionState::kCommitted;
}
/// "requested"; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view lifecycle_transaction_state_name(
    LifecycleTransactionState state) noexcept;

/// A request as it stood at one moment.
struct ReceiptView {
  LifecycleTransactionState state{LifecycleTransactionState::kRequested};
  /// Of this request, from 1, in the order of requests; 0 for one that was rejected on the spot.
  std::uint64_t transaction_id{0};
  /// The transaction that does this one's work, and whose states are shown from then on.
  std::optional<std::uint64_t> coalesced_into{};
  LifecycleStage effective_stage{LifecycleStage::kStart};
  /// The epoch that this transaction makes, or has made; the first is 1. 0 until it begins.
  std::uint64_t candidate_generation{0};
  std::string reason{};
  /// Why it was rejected, rolled back or failed; kFailure with an empty token otherwise.
  Error error{};
};

/// Where a receipt reads. Any thread; outlives the session.
class ReceiptSource {
 public:
  ReceiptSource() = default;
  ReceiptSource(const ReceiptSource&) = delete;
  ReceiptSource& operator=(const ReceiptSource&) = delete;
  virtual ~ReceiptSource() = default;
  [[nodiscard]] virtual ReceiptView view() const = 0;
  [[nodiscard]] virtual bool wait_until(std::chrono::steady_clock::time_point deadline) const = 0;
};

/// Proof of a request. Copyable; readable when the session has long gone.
class LifecycleReceipt {
 public:
  explicit LifecycleReceipt(std::shared_ptr<const ReceiptSource> source) noexcept
      : source_(std::move(source)) {}
  [[nodiscard]] ReceiptView view() const { return source_->view(); }
  /// Blocks until the state is final; false at the deadline. Not from an operator's callback: the
  /// transaction waits for that.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline) const {
    return source_->wait_until(deadline);
  }

 private:
  std::shared_ptr<const ReceiptSource> source_;
};

}  // namespace weftline
