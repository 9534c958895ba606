// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trigger_state.hpp"

namespace weftline::runtime {

class NotifiedTrigger final : public TriggerState {
 public:
  explicit NotifiedTrigger(SourceRuntime& source) noexcept
      : TriggerState(Kind::kSource), source_(source) {}

  Look look() noexcept override {
    return source_.notifications().pending() ? Look::kDue : Look::kNothing;
  }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    source_.notifications().take();
    firing.reason = ActivationReason::kNotified;
    firing.activation_ns = decided_ns;
    firing.reference_ns = decided_ns;
    return true;
  }

 private:
  SourceRuntime& source_;
};

}  // namespace weftline::runtime
