// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Due as long as the source's descriptor is readable. Each look asks the kernel: one system call,
/// the price of a level that nobody else keeps.
class ReadableTrigger final : public TriggerState {
 public:
  explicit ReadableTrigger(const SourceRuntime& source) noexcept
      : TriggerState(Kind::kSource), source_(source) {}

  Look look() noexcept override;
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    firing.reason = ActivationReason::kReadable;
    firing.activation_ns = decided_ns;
    firing.reference_ns = decided_ns;
    return true;
  }

 private:
  const SourceRuntime& source_;
};

}  // namespace weftline::runtime
