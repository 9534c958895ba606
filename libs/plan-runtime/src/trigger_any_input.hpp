// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "trigger_state.hpp"

namespace weftline::runtime {

/// Due when any of its inputs has a head; takes every head that is there.
class AnyInputTrigger final : public TriggerState {
 public:
  explicit AnyInputTrigger(std::vector<InputRuntime*> inputs) noexcept
      : TriggerState(Kind::kHeads), inputs_(std::move(inputs)) {}

  void start(std::int64_t) noexcept override { last_ns_ = kNever; }
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
    for (InputRuntime* input : inputs_) {
      const SampleMetadata* const head = input->head();
      if (head == nullptr) continue;
      last_ns_ = std::max(last_ns_, input->came_ns(*head, decided_ns));
      if (!done(input->select_head())) return false;
    }
    firing.activation_ns = last_ns_;
    firing.reference_ns = last_ns_;
    return true;
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  const std::vector<InputRuntime*> inputs_;
  /// When the newest sample so far came. One that waited behind others of its input may be older
  /// than what an earlier firing took from another input; time does not go back for that.
  std::int64_t last_ns_{kNever};
};

}  // namespace weftline::runtime
