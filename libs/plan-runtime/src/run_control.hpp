// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "lane_gate.hpp"
#include "parker.hpp"
#include "weftline/core/time.hpp"
#include "weftline/graph/cancellation.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline::runtime {

/// What ends a run early: a stop, a success, or a failure. Any thread.
class RunControl {
 public:
  [[nodiscard]] LaneGate& gate() noexcept { return gate_; }
  [[nodiscard]] bool stopping() const noexcept { return gate_.stopping(); }
  [[nodiscard]] Cancellation cancellation() const noexcept { return Cancellation(cancelled_); }
  [[nodiscard]] bool succeeded() const noexcept {
    return succeeded_.load(std::memory_order_acquire);
  }

  void stop() noexcept {
    begin_ending();
    cancelled_.store(true, std::memory_order_release);
    gate_.stop();
    controller_.wake();
  }
  /// Where the controller sleeps: woken by a stop and by every lane that ends.
  [[nodiscard]] Parker& controller() noexcept { return controller_; }
  /// The controller only: sleeps so long. False, at once, when the run is to end.
  [[nodiscard]] bool pause_controller(std::chrono::nanoseconds length) noexcept {
    const std::int64_t until = RealtimeClock{}.now_ns() + length.count();
    while (!stopping() && RealtimeClock{}.now_ns() < until) {
      if (!controller_.take_notification() && !stopping()) controller_.park(until);
    }
    return !stopping();
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
  /// The run is to end from now on; the first call counts.
  void begin_ending() noexcept {
    std::int64_t never = 0;
    ending_since_ns_.compare_exchange_strong(never, RealtimeClock{}.now_ns());
  }
  /// 0 while the run goes on.
  [[nodiscard]] std::int64_t ending_since_ns() const noexcept { return ending_since_ns_.load(); }

  void warn(std::string place, Error error) {
    const std::lock_guard lock(mutex_);
    warnings_.push_back({std::move(place), std::move(error)});
  }
  [[nodiscard]] std::vector<RunDiagnostic> warnings() const {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }
  [[nodiscard]] std::vector<RunDiagnostic> diagnostics() const {
    const std::lock_guard lock(mutex_);
    return diagnostics_;
  }

 private:
  LaneGate gate_{};
  Parker controller_{};
  std::atomic<bool> cancelled_{false};  // the gate's stop, for callbacks
  std::atomic<bool> succeeded_{false};
  std::atomic<std::int64_t> ending_since_ns_{0};
  mutable std::mutex mutex_{};
  std::vector<RunDiagnostic> diagnostics_{};
  std::vector<RunDiagnostic> warnings_{};
};

}  // namespace weftline::runtime
