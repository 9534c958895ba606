// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <thread>

#include "weftline/cuda/device.hpp"

// Waits for tests. They bound a test that would hang; they prove no order and measure no time.

namespace weftline::testing {

/// Long past anything that a healthy test needs, sanitizers and a loaded machine included.
inline constexpr std::chrono::seconds kPatience{60};

/// Asks until `condition()` holds. False when patience ran out.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

/// Whether the event's last record completes. A device that fails makes it false, too.
[[nodiscard]] inline bool completes(EventRef event) {
  bool failed = false;
  const bool done = eventually([&] {
    const auto complete = event.device()->is_complete(event);
    failed = !complete.has_value();
    return failed || *complete;
  });
  return done && !failed;
}

}  // namespace weftline::testing
