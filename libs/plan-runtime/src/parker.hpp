// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "weftline/core/error.hpp"

namespace weftline::runtime {

/// Puts one lane's thread to sleep and wakes it. A wake that comes before the sleep is not lost.
///
/// Protocol, sequentially consistent on both sides. Waker: publishes what changed with a seq_cst
/// store, then calls wake(), whose first step is a seq_cst load. Sleeper: park() first takes a
/// pending notification with a seq_cst exchange, and after that the lane reads all queues again
/// (seq_cst loads). In the single total order either the waker's load comes after the sleeper's
/// exchange, and the waker notifies; or before it, and the sleeper's later reads see what changed.
class Parker {
 public:
  /// Any thread. One load when a notification is pending already; a system call only when the
  /// thread sleeps.
  void wake() noexcept {
    if (state_.load(std::memory_order_seq_cst) == kNotified) return;
    if (state_.exchange(kNotified, std::memory_order_seq_cst) == kParked) wake_thread();
  }

  /// The lane's thread only. A notification is pending, and stays so.
  [[nodiscard]] bool notified() const noexcept {
    return state_.load(std::memory_order_relaxed) == kNotified;
  }
  /// The lane's thread only. Takes a pending notification.
  [[nodiscard]] bool take_notification() noexcept {
    return state_.exchange(kIdle, std::memory_order_seq_cst) == kNotified;
  }

  /// The lane's thread only, after take_notification() said no and the queues were looked at again.
  /// Sleeps until a wake or the deadline on CLOCK_MONOTONIC; true when it was a wake.
  bool park(std::optional<std::int64_t> deadline_ns) noexcept;

  // For a lane that has to notice descriptors, too: it sleeps in ppoll() instead of on a futex.

  /// Makes the eventfd that wakes such a lane; before any other thread uses this.
  /// kResourceExhausted (RUN_EVENTFD_UNAVAILABLE).
  [[nodiscard]] expected<void, Error> make_pollable();
  /// Its descriptor; -1 before make_pollable().
  [[nodiscard]] int event() const noexcept { return event_; }
  /// As park(), and until one of `watched` is ready, of which the first is event(); true for that,
  /// too.
  bool park_watching(std::optional<std::int64_t> deadline_ns, std::span<pollfd> watched) noexcept;

  Parker() noexcept = default;
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;
  ~Parker();

 private:
  static constexpr std::uint32_t kIdle = 0;
  static constexpr std::uint32_t kParked = 1;
  static constexpr std::uint32_t kNotified = 2;
  void wake_thread() noexcept;
  int event_{-1};
  alignas(64) std::atomic<std::uint32_t> state_{kIdle};
};

}  // namespace weftline::runtime
