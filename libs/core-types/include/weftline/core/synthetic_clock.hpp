// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "weftline/core/clock_driver.hpp"
#include "weftline/core/time.hpp"

namespace weftline {

/// A clock that stands still until its driver advances it:
///
///     auto driver = std::make_shared<ClockDriver>();
///     graph.set_default_clock(graph.add_clock<SyntheticClock>("sim", driver));
///     …
///     driver->advance(std::chrono::milliseconds(10));  // wakes the lanes that wait on it
///
/// A driver is never null.
class SyntheticClock final : public Clock {
 public:
  explicit SyntheticClock(std::shared_ptr<ClockDriver> driver) noexcept
      : driver_(std::move(driver)) {}
  [[nodiscard]] std::int64_t now_ns() const noexcept override { return driver_->now_ns(); }
  [[nodiscard]] bool independent_progress() const noexcept override { return false; }
  [[nodiscard]] ClockDriver* driver() const noexcept override { return driver_.get(); }

 private:
  const std::shared_ptr<ClockDriver> driver_;
};

}  // namespace weftline
