// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "weftline/testing/bounded_wait.hpp"

// For two threads that are to do something in the same nanoseconds, many times.

namespace weftline {

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
