// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Periodic ticks; those that were missed are one.
class ClockTrigger final : public TriggerState {
 public:
  ClockTrigger(const TemporalTriggerPlanRecord& record, ClockRef clock) noexcept
      : TriggerState(Kind::kTicks),
        clock_(clock),
        period_ns_(record.period_ns),
        phase_ns_(record.phase_ns),
        origin_(record.phase_origin) {}

  void start(std::int64_t start_ns) noexcept override;
  Look look() noexcept override {
    now_ns_ = clock_.now().timestamp_ns;
    return now_ns_ >= next_ns_ ? Look::kDue : Look::kNothing;
  }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override;
  std::optional<std::int64_t> deadline_ns() const noexcept override { return next_ns_; }

 private:
  const ClockRef clock_;
  const std::int64_t period_ns_;
  const std::int64_t phase_ns_;
  const ClockPhaseOrigin origin_;
  std::int64_t next_ns_{0};
  std::int64_t now_ns_{0};
};

}  // namespace weftline::runtime
