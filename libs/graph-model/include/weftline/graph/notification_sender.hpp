// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/graph/readiness_wake.hpp"

namespace weftline {

/// What a notification source shares with its senders. Lock-free; for the runtime.
///
/// Senders add to `outstanding_`, its lane takes from it; `senders_` counts the references. The add
/// and the lane's look are seq_cst, being one half of the store-load pair that the wake rests on.
class NotificationChannel {
 public:
  NotificationChannel(std::uint32_t capacity, std::uint32_t sender_capacity,
                      ReadinessWake wake) noexcept
      : capacity_(capacity), sender_capacity_(sender_capacity), wake_(std::move(wake)) {}

  // Any thread.

  expected<void, Error> notify() noexcept;
  /// kResourceExhausted (SOURCE_SENDERS_EXHAUSTED) when as many as may be exist.
  expected<void, Error> add_sender() noexcept;
  void drop_sender() noexcept { senders_.fetch_sub(1, std::memory_order_relaxed); }
  /// From now on notify() answers kClosed; one that is under way may still succeed, for nothing.
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }

  // The lane.

  [[nodiscard]] bool pending() const noexcept {
    return outstanding_.load(std::memory_order_seq_cst) > 0;
  }
  /// After pending() said yes.
  void take() noexcept { outstanding_.fetch_sub(1, std::memory_order_seq_cst); }

 private:
  const std::uint32_t capacity_;
  const std::uint32_t sender_capacity_;
  const ReadinessWake wake_;
  std::atomic<std::uint32_t> outstanding_{0};
  std::atomic<std::uint32_t> senders_{0};
  std::atomic<bool> closed_{false};
};

/// The right to notify one notification source: had from LifecycleContext::notification_sender()
/// while the operator starts, used from any one thread at a time, and safe to keep beyond the run.
/// The source's sender_reference_capacity() counts the senders that exist. One that was moved from
/// may only be assigned or destroyed.
class NotificationSender {
 public:
  /// For the runtime: takes over a reference that add_sender() counted.
  explicit NotificationSender(std::shared_ptr<NotificationChannel> channel) noexcept
      : channel_(std::move(channel)) {}
  NotificationSender(NotificationSender&& other) noexcept = default;
  NotificationSender& operator=(NotificationSender&& other) noexcept;
  ~NotificationSender();

  /// One activation more. kBackpressured (SOURCE_NOTIFICATIONS_FULL) when as many as the source's
  /// capacity() are outstanding, kClosed (SOURCE_CLOSED) once the operator has ended or begun anew.
  /// Lock-free, allocates nothing; a system call only when the lane sleeps.
  expected<void, Error> notify() noexcept { return channel_->notify(); }
  /// Another one, for another thread. kResourceExhausted (SOURCE_SENDERS_EXHAUSTED) beyond the
  /// source's sender_reference_capacity().
  [[nodiscard]] expected<NotificationSender, Error> copy() const noexcept;

 private:
  std::shared_ptr<NotificationChannel> channel_;
};

}  // namespace weftline
