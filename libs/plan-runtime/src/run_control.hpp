// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "parker.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline::runtime {

/// What ends a run early: a stop, a success, or a failure. Any thread.
class RunControl {
 public:
  /// Every lane that a stop has to wake. Before the lanes start.
  void add_lane(Parker& lane) { lanes_.push_back(&lane); }

  /// seq_cst like every condition that a lane sleeps on: the argument is in Parker's header.
  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(std::memory_order_seq_cst); }
  [[nodiscard]] bool succeeded() const noexcept {
    return succeeded_.load(std::memory_order_acquire);
  }

  void stop() noexcept {
    stopping_.store(true, std::memory_order_seq_cst);
    for (Parker* lane : lanes_) lane->wake();
  }
  void succeed() noexcept {
    succeeded_.store(true, std::memory_order_release);
    stop();
  }
  void fail(std::string place, Error error) noexcept {
    {
      const std::lock_guard lock(mutex_);
      diagnostics_.push_back({std::move(place), std::move(error)});
    }
    stop();
  }
  [[nodiscard]] std::vector<RunDiagnostic> diagnostics() const {
    const std::lock_guard lock(mutex_);
    return diagnostics_;
  }

 private:
  std::vector<Parker*> lanes_{};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> succeeded_{false};
  mutable std::mutex mutex_{};
  std::vector<RunDiagnostic> diagnostics_{};
};

}  // namespace weftline::runtime
