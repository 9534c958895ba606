// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "weftline/graph/param_ref.hpp"
#include "weftline/graph/port.hpp"

namespace weftline {

// What an activation takes from one input, and what it does when there is nothing to take. All
// storage is finite: what a selector may hold outside the queue is in the plan, and pools have
// slots for it. A capture time is needed by every selector but DrainAll and by none of its samples
// else: one without fails the run.

/// The most samples that one activation may take from one input.
inline constexpr std::uint32_t kMaximumSelectedSamples = 65'536;
/// The most activations in a row that may reuse one sample.
inline constexpr std::uint32_t kMaximumReuses = 1'000'000;

/// A largest age: a duration, or a parameter that holds one (std::chrono::nanoseconds, or an
/// integer of nanoseconds). The value that the plan is compiled with counts, so the parameter may
/// neither change while it runs nor be sensitive.
class AgeBound {
 public:
  template <class Rep, class Period>
  AgeBound(std::chrono::duration<Rep, Period> age) : age_(age) {}
  template <class P, class V>
    requires std::same_as<V, std::chrono::nanoseconds> || ParamInteger<V>
  AgeBound(const ParamRef<P, V>& parameter) : parameter_(parameter.field()) {}

  [[nodiscard]] std::chrono::nanoseconds age() const noexcept { return age_; }
  [[nodiscard]] const std::optional<ParamFieldDescriptor>& parameter() const noexcept {
    return parameter_;
  }

 private:
  std::chrono::nanoseconds age_{0};
  std::optional<ParamFieldDescriptor> parameter_{};
};

/// On an input that triggers: the sample that does. On any other: the one captured exactly at the
/// reference, so the trigger needs a reference of its own; older ones are dropped.
struct Exact {};

/// The newest sample captured at or before the reference, if it is not older than `max_age`
/// (inclusive). It stays for the next activation; older ones are dropped.
struct LatestWithin {
  AgeBound max_age;
};

/// All samples that wait, in order, at most `max_samples`; later ones wait for the next activation.
struct DrainAll {
  std::uint32_t max_samples;  ///< 1 to kMaximumSelectedSamples.
};

/// All samples captured from `lookbehind` before the reference to `lookahead` after it, both
/// inclusive, in order: when the input is known to reach over both ends, that is, has shown a
/// sample at or before the one and at or beyond the other, and when they are at most `max_samples`.
/// Otherwise none. An input that has ended reaches over the far end. Only OnWindow waits for what
/// lies ahead.
struct BracketedWindow {
  std::chrono::nanoseconds lookbehind{0};
  std::chrono::nanoseconds lookahead{0};
  std::uint32_t max_samples;  ///< 1 to kMaximumSelectedSamples.
};

using InputSelector = std::variant<Exact, LatestWithin, DrainAll, BracketedWindow>;

/// No activation. What triggered is used up.
struct Skip {};
/// What was selected last, as InputState::kReused, at most `max_reuses` activations in a row. With
/// nothing to reuse, or beyond that, there is no activation.
struct ReuseLast {
  std::uint32_t max_reuses;  ///< 1 to kMaximumReuses.
};
/// Runs with InputState::kSafeDefault: the operator has a degraded way. No data is made up.
struct SafeDefault {};
/// Runs with InputState::kAbsent.
struct Absent {};
/// Fails the run.
struct Fail {};

using MissingData = std::variant<Skip, ReuseLast, SafeDefault, Absent, Fail>;

}  // namespace weftline
