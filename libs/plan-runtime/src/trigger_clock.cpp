// SPDX-License-Identifier: Apache-2.0
#include "trigger_clock.hpp"

namespace weftline::runtime {

void ClockTrigger::start(std::int64_t start_ns) noexcept {
  if (origin_ == ClockPhaseOrigin::kCapturedAtSuccessfulStart) {
    next_ns_ = start_ns + phase_ns_;
    return;
  }
  // The first tick that is not before the start; the remainder is never negative.
  const std::int64_t phase_in_period = (phase_ns_ % period_ns_ + period_ns_) % period_ns_;
  const std::int64_t start_in_period = (start_ns % period_ns_ + period_ns_) % period_ns_;
  const std::int64_t ahead = (phase_in_period - start_in_period + period_ns_) % period_ns_;
  next_ns_ = start_ns + ahead;
}

bool ClockTrigger::fire(std::int64_t, Firing& firing) noexcept {
  const std::int64_t missed = (now_ns_ - next_ns_) / period_ns_;
  const std::int64_t tick = next_ns_ + missed * period_ns_;
  firing.reason = ActivationReason::kClock;
  firing.activation_ns = tick;
  firing.reference_ns = tick;
  firing.first_tick_ns = next_ns_;
  firing.coalesced_ticks = static_cast<std::uint64_t>(missed);
  coalesced_ticks_.add(firing.coalesced_ticks);
  next_ns_ = tick + period_ns_;
  return true;
}

}  // namespace weftline::runtime
