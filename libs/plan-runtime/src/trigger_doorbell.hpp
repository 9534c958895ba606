// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Due when the count is beyond what the last firing saw.
class DoorbellTrigger final : public TriggerState {
 public:
  explicit DoorbellTrigger(SourceRuntime& source) noexcept
      : TriggerState(Kind::kSource), source_(source) {}

  void start(std::int64_t) noexcept override { seen_ = 0; }
  Look look() noexcept override {
    return source_.bell().rung() != seen_ ? Look::kDue : Look::kNothing;
  }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    seen_ = source_.bell().rung();
    firing.reason = ActivationReason::kDoorbell;
    firing.activation_ns = decided_ns;
    firing.reference_ns = decided_ns;
    return true;
  }

 private:
  SourceRuntime& source_;
  std::uint64_t seen_{0};
};

}  // namespace weftline::runtime
