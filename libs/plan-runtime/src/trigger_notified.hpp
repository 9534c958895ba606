// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trigger_state.hpp"

namespace weftline::runtime {

class NotifiedTrigger final : public TriggerState {
 public:
  explicit NotifiedTrigger(NotificationChannel& channel) noexcept
      : TriggerState(Kind::kSource), channel_(channel) {}

  Look look() noexcept override { return channel_.pending() ? Look::kDue : Look::kNothing; }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    channel_.take();
    firing.reason = ActivationReason::kNotified;
    firing.activation_ns = decided_ns;
    firing.reference_ns = decided_ns;
    return true;
  }

 private:
  NotificationChannel& channel_;
};

}  // namespace weftline::runtime
