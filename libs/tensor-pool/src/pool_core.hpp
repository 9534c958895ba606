// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "pool_slot.hpp"
#include "return_stack.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

/// The pool itself: memory, slots, and the lists they are on. It outlives its TensorPool until the
/// last slot is back, then deletes itself.
///
///   allocate ◀── free_ ◀──┬── retiring_ (the producer's thread polls) ◀──┐
///                         └──────────────── returned_ ───────────────────┘
///                                              ▲ push, any thread
class TensorPool::Core {
 public:
  [[nodiscard]] static expected<Core*, Error> build(const TensorPoolOptions& options);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The producer's thread.

  [[nodiscard]] expected<TensorOutputLoan, Error> lend(const TensorLoanRequest& request,
                                                       StreamRef producer_stream) noexcept;
  /// The slot for a host write phase of a loan that has an unfenced one: its own when no device
  /// work can touch the bytes any more, else one such that takes its place, else kResourceExhausted
  /// (TENSOR_FUSED_SLOTS_IN_USE).
  [[nodiscard]] expected<PoolSlot*, Error> host_writable(PoolSlot& loaned) noexcept;
  [[nodiscard]] bool has_free_slot(std::uint32_t count) noexcept;
  void set_return_callback(SlotReturnCallback callback) noexcept {
    returned_.set_callback(callback);
  }
  /// The TensorPool is gone. Deletes this core, now or when the last slot is back.
  void close() noexcept;

  // Any thread.

  /// Takes a slot that its last holder has brought to kFree, kRetiring or kQuarantined. May delete
  /// this.
  void take_back(PoolSlot& slot) noexcept {
    if (!returned_.push(slot)) change_holders(-1);
  }
  /// Keeps the first failure of the device, for `lend()` to report when no slot is left: the
  /// device may say it in words only once. Before the `take_back()` of the slot that it cost.
  void note_failure(Error&& error) noexcept;
  [[nodiscard]] HostWaitCounters& host_waits() noexcept { return host_waits_; }
  [[nodiscard]] bool waits_for_device() const noexcept;
  [[nodiscard]] TensorPoolUsage usage() const noexcept;
  [[nodiscard]] std::uint64_t returns() const noexcept {
    return returns_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::vector<HeldSlot> held_slots() const;
  [[nodiscard]] const TensorPoolOptions& options() const noexcept { return options_; }

 private:
  explicit Core(const TensorPoolOptions& options) : options_(options) {}
  [[nodiscard]] expected<void, Error> make_slots();
  [[nodiscard]] bool repeats_last(const TensorLoanRequest& request) const noexcept;
  /// For a request that differs from the last one: makes `last_layout_` that of this one.
  [[nodiscard]] expected<void, Error> check_fit(const TensorLoanRequest& request) noexcept;
  [[nodiscard]] expected<void, Error> check_stream(StreamRef producer_stream) const noexcept;
  [[nodiscard]] bool find_free(std::uint32_t count) noexcept {
    collect_returned();
    if (available_ < count) poll_retiring();
    return available_ >= count;
  }
  void collect_returned() noexcept {
    for (TensorBacking* slot = returned_.take_all(); slot != nullptr;) {
      put(static_cast<PoolSlot&>(*std::exchange(slot, slot->next)));
    }
  }
  void poll_retiring() noexcept;
  void put(PoolSlot& slot) noexcept {
    if (slot.state() == SlotState::kFree) {
      slot.next = std::exchange(free_, &slot);
      ++available_;
      returns_.store(returns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      put_aside(slot);
    }
  }
  void put_aside(PoolSlot& slot) noexcept;
  /// Takes one from `free_` whose bytes no device can touch; null when there is none.
  [[nodiscard]] PoolSlot* take_fenced() noexcept;
  /// What `lend()` answers when no slot is free.
  [[nodiscard]] Error refuse_loan() noexcept;
  void count_refusal() noexcept;
  void note_high_water() noexcept {
    const std::uint32_t in_use = options_.slot_count - available_ - lost_;
    if (in_use > high_water_.load(std::memory_order_relaxed)) {
      high_water_.store(in_use, std::memory_order_relaxed);
    }
  }
  /// Deletes this when nobody holds a slot of the closed pool any more.
  void change_holders(std::int64_t by) noexcept;
  void end_on_own_thread() noexcept;
  [[nodiscard]] bool has_failed() const noexcept {
    return failure_.load(std::memory_order_acquire) == Failure::kNoted;
  }

  enum class Failure : std::uint8_t { kNone, kBeingNoted, kNoted };

  const TensorPoolOptions options_;
  MemoryBlock memory_{};
  std::vector<std::unique_ptr<HolderNotes>> notes_{};  ///< By slot, where somebody keeps them.
  std::unique_ptr<PoolSlot[]> slots_{};

  // The producer's thread only; the counters are atomic for readers of usage().
  alignas(64) PoolSlot* free_{nullptr};
  PoolSlot* retiring_{nullptr};
  TensorLayout last_layout_{};           ///< Of the last request that fits.
  std::uint64_t last_layout_number_{0};  ///< Counts them.
  bool last_is_packed_{false};           ///< It was asked for without strides.
  std::uint32_t available_{0};           ///< Slots on `free_`.
  std::uint32_t lost_{0};                ///< Quarantined slots that came back.
  std::atomic<std::uint32_t> high_water_{0};
  std::atomic<std::uint64_t> loans_{0};
  std::atomic<std::uint64_t> returns_{0};
  std::atomic<std::uint64_t> refusals_{0};

  // Shared with whoever drops handles.
  alignas(64) ReturnStack returned_{};
  std::atomic<std::int64_t> holders_{0};  ///< Slots that are out, once the pool is closed.
  HostWaitCounters host_waits_{};
  std::atomic<Failure> failure_{Failure::kNone};
  Error first_failure_{};  ///< Written once, before `failure_` says kNoted.
};

}  // namespace weftline
