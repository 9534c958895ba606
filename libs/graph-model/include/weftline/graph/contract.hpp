// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <optional>
#include <variant>
#include <vector>

#include "weftline/core/rate.hpp"
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

/// How long samples of one input may pile up before they are taken.
struct Accumulation {
  std::reference_wrapper<const InputPort> input;
  Horizon horizon{};
};

/// When an operator runs. An empty contract on an operator with inputs means OnAnyInput; an
/// operator without inputs must have a trigger.
class Contract {
 public:
  Contract() = default;
  Contract& trigger(Trigger trigger) {
    trigger_ = std::move(trigger);
    return *this;
  }
  /// Promises that samples of `input` are taken before they have piled up for longer than
  /// `horizon`: with a rate, the compiler sizes the queue for it. Activates nothing. Without it,
  /// the inputs of OnAligned alone have a horizon: the longest period among the other inputs, plus
  /// the window.
  Contract& accumulates(const InputPort& input, Horizon horizon) {
    accumulations_.push_back({input, horizon});
    return *this;
  }
  [[nodiscard]] const std::optional<Trigger>& trigger() const noexcept { return trigger_; }
  [[nodiscard]] const std::vector<Accumulation>& accumulations() const noexcept {
    return accumulations_;
  }

 private:
  std::optional<Trigger> trigger_{};
  std::vector<Accumulation> accumulations_{};
};

}  // namespace weftline
