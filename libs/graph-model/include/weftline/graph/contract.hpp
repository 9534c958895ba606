// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <variant>
#include <vector>

#include "weftline/graph/port.hpp"

namespace weftline {

/// Every accepted sample of one input.
struct OnEach {
  std::reference_wrapper<const InputPort> input;
};

/// Any input that has a sample; one activation may select several.
struct OnAnyInput {};

/// A fixed-phase tick of the graph's default clock, counted from start. Ticks missed while the lane
/// was busy, or while an earlier refusal still holds, collapse into one.
struct OnClock {
  std::chrono::nanoseconds period;
  std::chrono::nanoseconds phase{0};
};

/// The heads of all named inputs, when their capture times lie within `window` (inclusive).
/// Otherwise the oldest head is dropped and counted. Only heads are looked at; an accepted tuple
/// takes each head once. Samples without a capture time fail the run.
struct OnAligned {
  std::vector<std::reference_wrapper<const InputPort>> inputs;
  std::chrono::nanoseconds window{0};
};

using Trigger = std::variant<OnEach, OnAnyInput, OnClock, OnAligned>;

/// When an operator runs. An empty contract on an operator with inputs means OnAnyInput; an
/// operator without inputs must have a trigger.
class Contract {
 public:
  Contract() = default;
  Contract& trigger(Trigger trigger) {
    trigger_ = std::move(trigger);
    return *this;
  }
  [[nodiscard]] const std::optional<Trigger>& trigger() const noexcept { return trigger_; }

 private:
  std::optional<Trigger> trigger_{};
};

}  // namespace weftline
