// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "release_set.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

/// Where a slot is, and who takes it on from there:
///
///   kFree ──borrow──▶ kLoaned ──begin_write──▶ kWriting ──commit──▶ kCommitted ──publish──▶
///   kPublished
///     ▲               └────────────┴───────── last reference dropped ──┴───────────────────────┘
///     │                                                 │ retire
///     └── no device work to wait for ◀──────────────────┤
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

/// One piece of a pool's memory with its metadata, readiness event and release streams. It is held
/// by one loan or by any number of tensors; `drop_reference()` of the last one retires it.
class alignas(64) TensorSlot {
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

  // The loan's thread.

  expected<void, Error> begin_write(StreamRef stream) noexcept;
  expected<void, Error> commit() noexcept;
  void publish() noexcept;

  // Any thread that holds a reference.

  void add_reference() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept;
  expected<void, Error> enqueue_ready_wait(StreamRef stream) noexcept;
  expected<void, Error> add_release_stream(StreamRef stream) noexcept;
  expected<void, Error> synchronize_for_host() noexcept;

  [[nodiscard]] SlotState state() const noexcept { return state_.load(std::memory_order_relaxed); }
  [[nodiscard]] const TensorLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] MemoryKind memory_kind() const noexcept;
  [[nodiscard]] Device* device() const noexcept;
  [[nodiscard]] TensorPool::Core& core() const noexcept { return *core_; }

  /// The next slot of whichever list of the pool this one is on.
  TensorSlot* next{nullptr};

 private:
  void advance(SlotState from, SlotState to) noexcept;
  void retire() noexcept;
  /// Records what has to pass before the bytes may be used again; false when there is nothing.
  expected<bool, Error> record_pending_work() noexcept;
  expected<bool, Error> has_passed() noexcept;
  expected<void, Error> check_stream(StreamRef stream) const noexcept;

  std::atomic<std::uint32_t> references_{0};
  std::atomic<SlotState> state_{SlotState::kFree};
  bool device_phase_{false};  ///< The bytes were or are written on `producer_stream_`.
  bool ready_passed_{false};
  TensorPool::Core* core_{nullptr};
  std::byte* data_{nullptr};
  StreamRef producer_stream_{};
  Event ready_event_{};  ///< None without a device.
  ReleaseSet releases_{};
  TensorLayout layout_{};
};

}  // namespace weftline
