// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "weftline/tensor/tensor_backing.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

/// Where slots come back: any thread pushes, the producer's thread takes all at once. So no slot is
/// popped alone, and one that leaves and comes back meanwhile (ABA) can do no harm.
///
/// The producer's wish to be called at the next return is a mark at the top of the empty stack, and
/// so is the end of the pool. Whoever pushes finds the mark in the same exchange: no return is
/// missed, no call is made twice, and a push that finds no mark does not touch the stack again.
///
///   empty ──arm──▶ armed         arm, disarm, take_all, close: the producer's thread
///     │  ◀─disarm──  │           push: any
///     ▼ push         ▼ push, and call
///   slots ◀──────────┘
///     └──────── take_all ──▶ empty        any ──close──▶ closed, for good
class ReturnStack {
 public:
  // The producer's thread.

  /// Cold. No call to the callback before is running or to come when it returns.
  void set_callback(SlotReturnCallback callback) noexcept {
    std::uintptr_t top = kArmed;
    top_.compare_exchange_strong(top, kEmpty, std::memory_order_acq_rel);
    // A caller counts itself before it takes the mark. Either the mark was ours to take down, or
    // the count shows who has it.
    while (callers_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    callback_ = callback;
  }
  /// Has the next push call back. False, and nothing is armed, when the stack is not empty. Nothing
  /// without a callback.
  [[nodiscard]] bool arm() noexcept {
    std::uintptr_t top = kEmpty;
    if (callback_.function == nullptr) return top_.load(std::memory_order_relaxed) == kEmpty;
    return top_.compare_exchange_strong(top, kArmed, std::memory_order_acq_rel) || top == kArmed;
  }
  /// The last one pushed, with the others behind it; null for none. What is armed stays so.
  [[nodiscard]] TensorBacking* take_all() noexcept {
    const std::uintptr_t top = top_.load(std::memory_order_relaxed);
    if (top == kEmpty || top == kArmed) return nullptr;
    return at(top_.exchange(kEmpty, std::memory_order_acquire));
  }
  /// Cold: the same once more; from here on every push is refused. After set_callback({}).
  [[nodiscard]] TensorBacking* close() noexcept {
    return at(top_.exchange(kClosed, std::memory_order_acq_rel));
  }

  // Any thread.

  /// False when the stack is closed. The stack may be gone when this returns.
  [[nodiscard]] bool push(TensorBacking& backing) noexcept {
    const auto pushed = reinterpret_cast<std::uintptr_t>(&backing);
    std::uintptr_t top = top_.load(std::memory_order_relaxed);
    for (;;) {
      if (top == kArmed) {
        if (push_and_call(backing)) return true;
        top = top_.load(std::memory_order_relaxed);
      } else if (top == kClosed) {
        return false;
      } else {
        backing.next = at(top);
        if (top_.compare_exchange_weak(top, pushed, std::memory_order_release,
                                       std::memory_order_relaxed)) {
          return true;
        }
      }
    }
  }

 private:
  static constexpr std::uintptr_t kEmpty = 0;
  static constexpr std::uintptr_t kArmed = 1;
  static constexpr std::uintptr_t kClosed = 2;

  static TensorBacking* at(std::uintptr_t top) noexcept {
    return reinterpret_cast<TensorBacking*>(top);  // NOLINT(performance-no-int-to-ptr): see top_
  }

  /// False when the mark was gone.
  bool push_and_call(TensorBacking& backing) noexcept {
    callers_.fetch_add(1, std::memory_order_relaxed);
    backing.next = nullptr;
    std::uintptr_t top = kArmed;
    const bool pushed =
        top_.compare_exchange_strong(top, reinterpret_cast<std::uintptr_t>(&backing),
                                     std::memory_order_acq_rel, std::memory_order_relaxed);
    if (pushed) callback_.function(callback_.context);
    callers_.fetch_sub(1, std::memory_order_release);
    return pushed;
  }

  std::atomic<std::uintptr_t> top_{kEmpty};  ///< A mark, or the address of the last one pushed.
  std::atomic<int> callers_{0};
  SlotReturnCallback callback_{};  ///< Changed only while no caller may read it.
};

}  // namespace weftline
