// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "return_signal.hpp"
#include "tensor_slot.hpp"
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

  [[nodiscard]] expected<TensorSlot*, Error> borrow(const TensorLoanRequest& request,
                                                    StreamRef producer_stream) noexcept;
  [[nodiscard]] bool has_free_slot() noexcept;
  void set_return_callback(SlotReturnCallback callback) noexcept { signal_.set(callback); }
  /// The TensorPool is gone. Deletes this core, now or when the last slot is back.
  void close() noexcept;

  // Any thread.

  /// Takes a slot that `retire()` has brought to kFree, kRetiring or kQuarantined. May delete this.
  void take_back(TensorSlot& slot) noexcept;
  void count_host_wait() noexcept { host_waits_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] bool waits_for_device() const noexcept;
  [[nodiscard]] TensorPoolUsage usage() const noexcept;
  [[nodiscard]] const TensorPoolOptions& options() const noexcept { return options_; }

 private:
  explicit Core(const TensorPoolOptions& options) : options_(options) {}
  [[nodiscard]] expected<void, Error> make_slots();
  [[nodiscard]] expected<TensorLayout, Error> fitting_layout(
      const TensorLoanRequest& request) const noexcept;
  [[nodiscard]] bool find_free() noexcept;
  void collect_returned() noexcept;
  void poll_retiring() noexcept;
  void put(TensorSlot& slot) noexcept;

  const TensorPoolOptions options_;
  MemoryBlock memory_{};
  std::unique_ptr<TensorSlot[]> slots_{};

  // The producer's thread only; the counters are atomic for readers of usage().
  alignas(64) TensorSlot* free_{nullptr};
  TensorSlot* retiring_{nullptr};
  std::uint32_t available_{0};  ///< Slots on `free_`.
  std::uint32_t lost_{0};       ///< Quarantined slots that came back.
  std::atomic<std::uint32_t> high_water_{0};
  std::atomic<std::uint64_t> loans_{0};
  std::atomic<std::uint64_t> refusals_{0};

  // Shared with whoever drops handles.
  alignas(64) std::atomic<TensorSlot*> returned_{nullptr};
  std::atomic<std::int64_t> balance_{0};
  ReturnSignal signal_{};
  std::atomic<std::uint64_t> host_waits_{0};
};

}  // namespace weftline
