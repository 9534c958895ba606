// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Due when any of its inputs has a head; takes every head that is there.
class AnyInputTrigger final : public TriggerState {
 public:
  explicit AnyInputTrigger(std::vector<InputRuntime*> inputs) noexcept
      : TriggerState(Kind::kInputs), inputs_(std::move(inputs)) {}

  Look look() noexcept override {
    for (InputRuntime* input : inputs_) {
      if (input->head() != nullptr) return Look::kDue;
    }
    for (InputRuntime* input : inputs_) {
      if (!input->ended()) return Look::kNothing;
    }
    return Look::kExhausted;
  }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    firing.activation_ns = decided_ns;
    firing.reference_ns = decided_ns;
    for (InputRuntime* input : inputs_) {
      if (input->head() != nullptr && !done(input->select_head())) return false;
    }
    return true;
  }

 private:
  const std::vector<InputRuntime*> inputs_;
};

}  // namespace weftline::runtime
