// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

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
/// retire records the work that is pending. In a host task, which may not call the device, it
/// leaves that to the next poll.
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
  void keep_notes(HolderNotes& notes) noexcept { set_notes(notes); }
  /// Waits on the host for device work that may still touch the bytes.
  void synchronize_for_destruction() noexcept;

  // The producer's thread.

  /// `layout_number` is another one for another layout, and never 0.
  void borrow(const TensorLayout& layout, std::uint64_t layout_number,
              StreamRef producer_stream) noexcept {
    advance(SlotState::kFree, SlotState::kLoaned);
    loan_number_.store(loan_number() + 1, std::memory_order_relaxed);
    producer_stream_ = producer_stream;
    device_phase_ = false;
    fence_recorded_ = false;
    if (notes() != nullptr) notes()->clear();
    if (std::exchange(layout_number_, layout_number) == layout_number) {
      begin_life();
    } else {
      begin_life(layout);
    }
  }
  /// For a slot in kRetiring: frees it when all its device work has passed, quarantines it when
  /// that can't be known. Records that work where the last reference dropped in a host task.
  void poll() noexcept;
  /// For a loan that was not written yet, of an unfenced slot: whether the slot's earlier work has
  /// passed, which it then is fenced again. Records that work's event at the first question.
  expected<bool, Error> fence_passed() noexcept;
  /// For a slot whose fence has not passed: its loan goes on with `other`, a free slot, and this
  /// one retires.
  void give_way(PoolSlot& other) noexcept;

  // The loan's thread.

  /// Whether such a phase may begin now; see TensorOutputLoan::write().
  expected<void, Error> check_write(StreamRef stream) const noexcept {
    if (state() != SlotState::kLoaned) {
      return fail(ErrorCode::kInvalidArgument, "TENSOR_ALREADY_WRITTEN");
    }
    if (!stream) {
      if (!is_host_accessible(memory_kind())) {
        return fail(ErrorCode::kNotSupported, "TENSOR_HOST_WRITE_TO_DEVICE_MEMORY");
      }
    } else if (device() == nullptr) {
      return fail(ErrorCode::kNotSupported, "TENSOR_DEVICE_WRITE_TO_HOST_MEMORY");
    } else if (stream != producer_stream_) {
      return fail(ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN");
    }
    return {};
  }
  /// After check_write(), and for a host phase once the slot is fenced.
  expected<void, Error> begin_write(StreamRef stream) noexcept {
    if (stream) WEFTLINE_TRY(begin_device_phase(stream));
    declare_use(stream, MemoryUse::kWrite, stream ? "write phase" : "host write phase");
    advance(SlotState::kLoaned, SlotState::kWriting);
    return {};
  }
  expected<void, Error> commit() noexcept {
    declare_end();
    if (device_phase_) WEFTLINE_TRY(commit_device_phase());
    advance(SlotState::kWriting, SlotState::kCommitted);
    return {};
  }
  void note_loaned(std::int64_t since_ns) noexcept {
    if (notes() != nullptr) notes()->loaned(since_ns);
  }
  void publish() noexcept { advance(SlotState::kCommitted, SlotState::kPublished); }
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
  /// Absent: the slot is free.
  [[nodiscard]] std::optional<HeldSlot::State> held_state() const noexcept;
  [[nodiscard]] HeldSlot held(std::uint32_t index, HeldSlot::State state) const;

 private:
  void advance(SlotState from, SlotState to) noexcept {
    if (state() != from) stop_at(from, to);
    state_.store(to, std::memory_order_relaxed);
  }
  /// A broken invariant of this library.
  [[noreturn]] void stop_at(SlotState from, SlotState to) const noexcept;
  expected<void, Error> begin_device_phase(StreamRef stream) noexcept;
  expected<void, Error> commit_device_phase() noexcept;
  void last_reference_dropped() noexcept override;
  /// Whether a device may still touch the bytes when the last reference drops.
  [[nodiscard]] bool has_pending_work() const noexcept {
    return (!unfenced_ && (device_phase_ || !releases().empty())) || holds_unproven_work();
  }
  /// The state of a slot with pending work whose last reference dropped.
  [[nodiscard]] SlotState retire() noexcept;
  /// Records what has to pass before the bytes may be used again: all that was queued until now on
  /// the streams that hold them.
  expected<void, Error> record_pending_work() noexcept;
  expected<bool, Error> has_passed() noexcept;

  std::atomic<SlotState> state_{SlotState::kFree};
  bool device_phase_{false};  ///< The bytes were or are written on `producer_stream_`.
  bool unfenced_{false};
  bool fence_recorded_{false};  ///< The event of an unfenced slot, by this loan.
  // Of a retiring slot.
  bool record_due_{false};
  bool write_unrecorded_{false};  ///< The producer's stream is to be recorded, too.
  /// Counts loans. Atomic for guards that have lost theirs.
  std::atomic<std::uint64_t> loan_number_{0};
  std::uint64_t layout_number_{0};  ///< Of the layout that the slot had last.
  TensorPool::Core* core_{nullptr};
  StreamRef producer_stream_{};
};

}  // namespace weftline
