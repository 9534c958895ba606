// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "weftline/testing/bounded_wait.hpp"

// For two threads that are to do something in the same nanoseconds, many times.

namespace weftline {

/// Counts the rounds of a stress test. Where cores are scarce it allows fewer: there each handshake
/// waits for other programs, and the threads hardly ever meet.
class Rounds {
 public:
  explicit Rounds(std::uint64_t limit) : limit_(limit) {}
  /// Whether to make one more.
  [[nodiscard]] bool next() {
    if (begun_ == limit_ || std::chrono::steady_clock::now() > enough_) return false;
    ++begun_;
    return true;
  }
  /// How many were begun: 1 in the first.
  [[nodiscard]] std::uint64_t begun() const { return begun_; }

 private:
  const std::uint64_t limit_;
  std::uint64_t begun_{0};
  const std::chrono::steady_clock::time_point enough_{std::chrono::steady_clock::now() +
                                                      std::chrono::seconds(3)};
};

/// Wastes a few nanoseconds.
inline void dawdle(int steps) {
  for (int step = 0; step < steps; ++step) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Waits until the other thread has written another number, and returns it; the old one when none
/// comes. Spins at first: a yield would throw the two threads out of step.
inline int await_change(const std::atomic<int>& number, int old) {
  int current = old;
  const auto changed = [&] { return (current = number.load(std::memory_order_acquire)) != old; };
  for (int spin = 0; spin < 2000; ++spin) {
    if (changed()) return current;
  }
  static_cast<void>(testing::eventually(changed));
  return current;
}

}  // namespace weftline
