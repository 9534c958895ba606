// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Due when the count is beyond what the last firing saw.
class DoorbellTrigger final : public TriggerState {
 public:
  explicit DoorbellTrigger(DoorbellChannel& bell) noexcept
      : TriggerState(Kind::kSource), bell_(bell) {}

  Look look() noexcept override { return bell_.rung() != seen_ ? Look::kDue : Look::kNothing; }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    seen_ = bell_.rung();
    firing.reason = ActivationReason::kDoorbell;
    firing.activation_ns = decided_ns;
    firing.reference_ns = decided_ns;
    return true;
  }

 private:
  DoorbellChannel& bell_;
  std::uint64_t seen_{0};
};

}  // namespace weftline::runtime
