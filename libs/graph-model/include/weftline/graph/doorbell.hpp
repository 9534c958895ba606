// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/graph/readiness_wake.hpp"

namespace weftline {

/// What a doorbell source shares with its handles: a count that only grows. Lock-free; for the
/// runtime. seq_cst for the same reason as NotificationChannel.
class DoorbellChannel {
 public:
  explicit DoorbellChannel(ReadinessWake wake) noexcept : wake_(std::move(wake)) {}

  expected<void, Error> ring(std::uint64_t count) noexcept;
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t rung() const noexcept {
    return rung_.load(std::memory_order_seq_cst);
  }

 private:
  const ReadinessWake wake_;
  std::atomic<std::uint64_t> rung_{0};
  std::atomic<bool> closed_{false};
};

/// Rings one doorbell source: had from LifecycleContext::doorbell() while the operator starts.
/// Copied freely, used from any thread, and safe to keep beyond the run.
class Doorbell {
 public:
  /// For the runtime.
  explicit Doorbell(std::shared_ptr<DoorbellChannel> channel) noexcept
      : channel_(std::move(channel)) {}

  /// Raises the doorbell's count to `count`; one that is not beyond it changes nothing and wakes
  /// nobody; the count begins with 0 at each start. kClosed (SOURCE_CLOSED) once the operator has
  /// ended or begun anew. Lock-free, allocates nothing; a system call
  /// only when the lane sleeps.
  expected<void, Error> ring(std::uint64_t count) noexcept { return channel_->ring(count); }

 private:
  std::shared_ptr<DoorbellChannel> channel_;
};

}  // namespace weftline
