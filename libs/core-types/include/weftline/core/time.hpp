// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "weftline/core/error.hpp"
#include "weftline/core/ids.hpp"

namespace weftline {

/// A coordinate on one clock, in nanoseconds. Points on different clocks don't compare.
struct TimePoint {
  std::int64_t timestamp_ns{0};
  ClockId clock_id{};
  friend constexpr bool operator==(TimePoint, TimePoint) noexcept = default;
};

class ClockDriver;

/// A source of time. Reading it must not block or allocate; any thread may read.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual std::int64_t now_ns() const noexcept = 0;
  /// True when time goes on without anybody driving it, as fast as the machine's, so that a lane
  /// can sleep until a deadline.
  [[nodiscard]] virtual bool independent_progress() const noexcept = 0;
  /// Who moves time on where it does not go on by itself, and wakes who waits for it; null where
  /// nobody does. Lives as long as the clock.
  [[nodiscard]] virtual ClockDriver* driver() const noexcept { return nullptr; }
};

/// The machine's monotonic clock (CLOCK_MONOTONIC): steady, the same in every process of one boot.
class RealtimeClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t now_ns() const noexcept override;
  [[nodiscard]] bool independent_progress() const noexcept override { return true; }
};

}  // namespace weftline
