// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace weftline {

/// For the runtime: how a source's handle wakes the lane that waits for it. Keeps alive what it
/// wakes, so a wake that comes after the run is for nothing and harms nothing.
struct ReadinessWake {
  std::shared_ptr<void> waiter{};
  void (*wake)(void* waiter) noexcept {nullptr};

  void operator()() const noexcept {
    if (wake != nullptr) wake(waiter.get());
  }
};

}  // namespace weftline
