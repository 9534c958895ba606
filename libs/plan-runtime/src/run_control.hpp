// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "lane_gate.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline::runtime {

/// What ends a run early: a stop, a success, or a failure. Any thread.
class RunControl {
 public:
  [[nodiscard]] LaneGate& gate() noexcept { return gate_; }
  [[nodiscard]] bool stopping() const noexcept { return gate_.stopping(); }
  [[nodiscard]] bool succeeded() const noexcept {
    return succeeded_.load(std::memory_order_acquire);
  }

  void stop() noexcept { gate_.stop(); }
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
  LaneGate gate_{};
  std::atomic<bool> succeeded_{false};
  mutable std::mutex mutex_{};
  std::vector<RunDiagnostic> diagnostics_{};
};

}  // namespace weftline::runtime
