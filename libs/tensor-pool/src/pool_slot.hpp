// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "weftline/tensor/tensor_backing.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

/// Where a slot is, and who takes it on from there:
///
///   kFree ──borrow──▶ kLoaned ──begin_write──▶ kWriting ──commit──▶ kCommitted ──publish──▶
///   kPublished
///     ▲               └────────────┴───────── last reference dropped ──┴───────────────────────┘
///     │                                                 │ retire
///     └── no device work to wait for, or none that the  │
///         fused stream does not keep in order ◀─────────┤
///     └── poll: all of it has passed ◀──── kRetiring ◀──┤
///                                              └──────▶ kQuarantined (a record or a query failed)
///
/// borrow and poll: the producer's thread. begin_write, commit, publish: the loan's thread. retire:
/// the thread that drops the last reference. A slot changes hands by its reference count and by the
/// pool's return stack, so the rest of it needs no atomics; the state is one for readers of
/// usage().
enum class SlotState : std::uint8_t {
  kFree,
  kLoaned,
  kWriting,
  kCommitted,
  kPublished,
  kRetiring,
  kQuarantined,
};

/// One piece of a pool's memory. It is held by one loan or by any number of tensors; dropping the
/// last reference retires it.
class PoolSlot final : public TensorBacking {
 public:
  // Cold, by the pool.

  expected<void, Error> build(TensorPool::Core& core, std::byte* data);
  /// Waits on the host for device work that may still touch the bytes.
  void synchronize_for_destruction() noexcept;

  // The producer's thread.

  void borrow(const TensorLayout& layout, StreamRef producer_stream) noexcept;
  /// For a slot in kRetiring: frees it when all its device work has passed, quarantines it when
  /// that can't be known.
  void poll() noexcept;
  /// For a loan that was not written yet, of an unfenced slot: whether the slot's earlier work has
  /// passed, which it then is fenced again. Records that work's event at the first question.
  expected<bool, Error> fence_passed() noexcept;
  /// For a slot whose fence has not passed: its loan goes on with `other`, a free slot, and this
  /// one retires.
  void give_way(PoolSlot& other) noexcept;

  // The loan's thread.

  /// Whether such a phase may begin now; see TensorOutputLoan::write().
  expected<void, Error> check_write(StreamRef stream) const noexcept;
  /// After check_write(), and for a host phase once the slot is fenced.
  expected<void, Error> begin_write(StreamRef stream) noexcept;
  expected<void, Error> commit() noexcept;
  void publish() noexcept;
  [[nodiscard]] std::uint64_t loan_number() const noexcept {
    return loan_number_.load(std::memory_order_relaxed);
  }
  /// Whether that loan is the one that the slot is lent to, and in its write phase.
  [[nodiscard]] bool is_writing(std::uint64_t loan_number) const noexcept {
    return state() == SlotState::kWriting && this->loan_number() == loan_number;
  }

  /// True when an earlier life's work on the fused stream may go on, and no event tells: work on
  /// that stream is in order, anything else has to be fenced first.
  [[nodiscard]] bool unfenced() const noexcept { return unfenced_; }
  [[nodiscard]] TensorPool::Core& core() const noexcept { return *core_; }

  // Any thread.

  [[nodiscard]] SlotState state() const noexcept { return state_.load(std::memory_order_relaxed); }

 private:
  void advance(SlotState from, SlotState to) noexcept;
  void last_reference_dropped() noexcept override;
  /// Records what has to pass before the bytes may be used again; false when there is nothing.
  expected<bool, Error> record_pending_work() noexcept;
  expected<bool, Error> has_passed() noexcept;

  std::atomic<SlotState> state_{SlotState::kFree};
  bool device_phase_{false};  ///< The bytes were or are written on `producer_stream_`.
  bool unfenced_{false};
  bool fence_recorded_{false};  ///< The event of an unfenced slot, by this loan.
  /// Counts loans. Atomic for guards that have lost theirs.
  std::atomic<std::uint64_t> loan_number_{0};
  TensorPool::Core* core_{nullptr};
  StreamRef producer_stream_{};
};

}  // namespace weftline
