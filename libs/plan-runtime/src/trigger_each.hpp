// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trigger_state.hpp"

namespace weftline::runtime {

class EachTrigger final : public TriggerState {
 public:
  explicit EachTrigger(InputRuntime& input) noexcept : TriggerState(Kind::kHeads), input_(input) {}

  Look look() noexcept override {
    if (input_.head() != nullptr) return Look::kDue;
    return input_.ended() ? Look::kExhausted : Look::kNothing;
  }
  bool fire(std::int64_t decided_ns, Firing& firing) noexcept override {
    const SampleMetadata& head = *input_.head();
    firing.activation_ns = input_.came_ns(head, decided_ns);
    firing.reference_ns = head.capture ? head.capture->timestamp_ns : firing.activation_ns;
    return done(input_.select_head());
  }

 private:
  InputRuntime& input_;
};

}  // namespace weftline::runtime
