// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "weftline/core/error.hpp"

namespace weftline {

/// Moves time on where it does not go on by itself: for simulation and tests. Whoever drives shares
/// it with the clocks (`SyntheticClock`), which read it. Any thread may read, advance and
/// subscribe; one at a time advances.
class ClockDriver {
 public:
  /// Called on the advancing thread after each advance, with all listeners serialized. Must not
  /// block, nor use the driver except for reading it.
  struct Listener {
    void (*call)(void* context) noexcept {nullptr};
    void* context{nullptr};
  };

  explicit ClockDriver(std::int64_t start_ns = 0) noexcept : now_ns_(start_ns) {}
  ClockDriver(const ClockDriver&) = delete;
  ClockDriver& operator=(const ClockDriver&) = delete;

  /// seq_cst: a listener that wakes a sleeper and the sleeper's own look at the time are a
  /// store-load pair, one of which sees the other.
  [[nodiscard]] std::int64_t now_ns() const noexcept {
    return now_ns_.load(std::memory_order_seq_cst);
  }

  /// Time only goes on: a time before now_ns() is kInvalidArgument (CLOCK_NOT_FORWARD) and changes
  /// nothing. Calls every listener before it returns; does not wait for what they wake. Allocates
  /// nothing.
  expected<void, Error> advance_to(std::int64_t now_ns);
  /// The same from now on. kArithmeticOverflow (CLOCK_EXHAUSTED) beyond the last representable
  /// time.
  expected<void, Error> advance(std::chrono::nanoseconds step);

  /// A listener's registration; ends it. When the destructor returns, the listener is not being
  /// called and will not be. The driver outlives it.
  class Subscription {
   public:
    Subscription() noexcept = default;
    Subscription(Subscription&& other) noexcept;
    Subscription& operator=(Subscription&& other) noexcept;
    ~Subscription() { end(); }

   private:
    friend class ClockDriver;
    Subscription(ClockDriver& driver, std::uint64_t number) noexcept
        : driver_(&driver), number_(number) {}
    void end() noexcept;
    ClockDriver* driver_{nullptr};
    std::uint64_t number_{0};
  };
  /// Cold: allocates.
  [[nodiscard]] Subscription subscribe(Listener listener);

 private:
  struct Entry {
    std::uint64_t number{0};
    Listener listener{};
  };
  expected<void, Error> advance_locked(std::int64_t now_ns);

  std::atomic<std::int64_t> now_ns_;  ///< Written under the mutex.
  std::mutex mutex_{};
  std::vector<Entry> listeners_{};
  std::uint64_t next_number_{0};
};

}  // namespace weftline
