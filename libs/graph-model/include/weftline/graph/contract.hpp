// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "weftline/core/rate.hpp"
#include "weftline/graph/activation.hpp"
#include "weftline/graph/selection.hpp"
#include "weftline/graph/trigger.hpp"

namespace weftline {

/// How long samples of one input may pile up before they are taken.
struct Accumulation {
  std::reference_wrapper<const InputPort> input;
  Horizon horizon{};
};

struct InputSelection {
  std::reference_wrapper<const InputPort> input;
  InputSelector selector;
  MissingData missing;
};

/// How late an activation may start, and what happens when it is later.
struct StartDelay {
  std::chrono::nanoseconds limit{0};
  OnViolation on_violation{OnViolation::kReport};
};

/// A number of calls of compute().
struct ComputeCalls {
  std::uint64_t limit{0};
};

/// When an operator runs and what it takes. An empty contract on an operator with inputs means
/// OnAnyInput; an operator without inputs must have a trigger. An input that the trigger does not
/// name needs a select(). Mistakes that only the whole contract shows are reported by compile().
class Contract {
 public:
  Contract() = default;
  Contract& trigger(Trigger trigger) {
    trigger_ = std::move(trigger);
    return *this;
  }
  /// What an activation takes from `input`; once for each input. One that the trigger names has a
  /// fresh sample always: it takes Exact, and no policy for the case that there is none (OnAnyInput
  /// with several inputs guarantees none of them: ReuseLast, SafeDefault or Absent).
  Contract& select(const InputPort& input, InputSelector selector, MissingData missing = Skip{}) {
    selections_.push_back({input, std::move(selector), missing});
    return *this;
  }
  /// From the time of an activation (Activation::time) to the call of compute(); positive. Samples
  /// that wait in a queue while the lane is busy, or for room at an output, use it up. It bounds
  /// the start only, not how long compute() takes.
  Contract& max_start_delay(std::chrono::nanoseconds limit, OnViolation on_violation) {
    start_delay_ = StartDelay{limit, on_violation};
    return *this;
  }
  /// An operator without inputs closes its outputs after so many calls. Throws
  /// CONTRACT_COMPLETION_INVALID for 0.
  Contract& complete_after(ComputeCalls calls) {
    if (calls.limit == 0) {
      throw RuntimeError({ErrorCode::kInvalidArgument, "CONTRACT_COMPLETION_INVALID",
                          "complete_after() takes 1 call or more; an operator that never runs can "
                          "be left out",
                          0});
    }
    complete_after_ = calls;
    return *this;
  }
  /// Promises that samples of `input` are taken before they have piled up for longer than
  /// `horizon`: with a rate, the compiler sizes the queue for it. Activates nothing. Without it,
  /// the horizon follows from trigger and selector where they bound it: for an input of OnAligned,
  /// the longest period among the others and the window; for one that DrainAll or Exact takes at
  /// each activation, the longest time between two; for a BracketedWindow, its length and the
  /// longest wait of OnWindow; for the anchor of OnWindow, the longest wait.
  Contract& accumulates(const InputPort& input, Horizon horizon) {
    accumulations_.push_back({input, horizon});
    return *this;
  }
  [[nodiscard]] const std::optional<Trigger>& trigger() const noexcept { return trigger_; }
  [[nodiscard]] const std::vector<InputSelection>& selections() const noexcept {
    return selections_;
  }
  [[nodiscard]] const std::optional<StartDelay>& start_delay() const noexcept {
    return start_delay_;
  }
  [[nodiscard]] const std::optional<ComputeCalls>& complete_after() const noexcept {
    return complete_after_;
  }
  [[nodiscard]] const std::vector<Accumulation>& accumulations() const noexcept {
    return accumulations_;
  }

 private:
  std::optional<Trigger> trigger_{};
  std::vector<InputSelection> selections_{};
  std::optional<StartDelay> start_delay_{};
  std::optional<ComputeCalls> complete_after_{};
  std::vector<Accumulation> accumulations_{};
};

}  // namespace weftline
