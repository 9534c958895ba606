// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Due after the probed flag has turned from false to true; edges coalesce.
class SpinTrigger final : public TriggerState {
 public:
  explicit SpinTrigger(const SourceRuntime& source) noexcept
      : TriggerState(Kind::kSource), source_(source) {}

  void start(std::int64_t) noexcept override {
    last_.reset();
    edge_ = false;
  }
  Look look() noexcept override {
    const SpinProbe& probe = source_.probe();
    const bool flag = probe.look(probe.context);
    edge_ = edge_ || (last_ == false && flag);
    last_ = flag;
    return edge_ ? Look::kDue : Look::kNothing;
  }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    edge_ = false;
    firing.reason = ActivationReason::kSpin;
    firing.activation_ns = decided_ns;
    firing.reference_ns = decided_ns;
    return true;
  }

 private:
  const SourceRuntime& source_;
  std::optional<bool> last_{};  ///< Absent before the first look.
  bool edge_{false};
};

}  // namespace weftline::runtime
