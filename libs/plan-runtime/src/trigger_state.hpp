// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "counter.hpp"
#include "input_set.hpp"
#include "source_runtime.hpp"
#include "weftline/graph/activation.hpp"
#include "weftline/graph/execution_context.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// One firing of a trigger.
struct Firing {
  ActivationReason reason{ActivationReason::kInput};
  std::int64_t activation_ns{0};
  std::int64_t reference_ns{0};  ///< What selectors measure from.
  std::int64_t first_tick_ns{0};
  std::uint64_t coalesced_ticks{0};
};

/// Decides when one operator runs and which samples begin its activation, by the rules of
/// weftline/graph/trigger.hpp. One class for each trigger, in a file of its own. Bounded state,
/// used on the operator's lane.
class TriggerState {
 public:
  enum class Look : std::uint8_t {
    kNothing = 0,
    kDue,
    kExhausted,  ///< No firing can come any more.
    kFailed,     ///< See take_error().
  };

  virtual ~TriggerState() = default;
  /// The operator crosses start at `start_ns` on the default clock, for the first time or again:
  /// nothing that came before counts.
  virtual void start(std::int64_t start_ns) noexcept { static_cast<void>(start_ns); }
  /// What is held of that input was dropped, since its producer has begun anew.
  virtual void forget(const InputRuntime& input) noexcept { static_cast<void>(input); }
  /// Whether a firing is due now. May drop heads that can never be part of one.
  [[nodiscard]] virtual Look look() noexcept = 0;
  /// After look() said kDue: selects the samples that are the trigger's. `decided_ns` is when it
  /// first said so, on the default clock, where decided_when_seen() or an imported head wants it.
  /// False: see take_error().
  [[nodiscard]] virtual bool fire(std::int64_t decided_ns, Firing& firing) noexcept = 0;
  /// When to look again although no input has changed, on the clock of the trigger's record.
  [[nodiscard]] virtual std::optional<std::int64_t> deadline_ns() const noexcept { return {}; }

  /// Room at the outputs holds it back (ADR 0001).
  [[nodiscard]] bool input_driven() const noexcept { return input_driven_; }
  /// Firings have ticks.
  [[nodiscard]] bool ticks() const noexcept { return ticks_; }
  /// The time of a firing is that of the first look that found it due: neither a tick's nor that of
  /// a sample's coming.
  [[nodiscard]] bool decided_when_seen() const noexcept { return decided_when_seen_; }
  [[nodiscard]] Error take_error() noexcept { return std::exchange(error_, {}); }

  // Any thread.

  [[nodiscard]] std::uint64_t unaligned_drops() const noexcept { return unaligned_drops_.read(); }
  [[nodiscard]] std::uint64_t coalesced_ticks() const noexcept { return coalesced_ticks_.read(); }
  [[nodiscard]] std::uint64_t window_timeouts() const noexcept { return window_timeouts_.read(); }

 protected:
  enum class Kind : std::uint8_t { kHeads, kWindows, kTicks, kSource };
  explicit TriggerState(Kind kind) noexcept
      : input_driven_(kind == Kind::kHeads || kind == Kind::kWindows),
        ticks_(kind == Kind::kTicks),
        decided_when_seen_(kind == Kind::kWindows || kind == Kind::kSource) {}
  /// For `return failed(...)` in look().
  Look failed(Error error) noexcept {
    error_ = std::move(error);
    return Look::kFailed;
  }
  /// For `return done(...)` in fire().
  bool done(expected<void, Error> result) noexcept {
    if (result) return true;
    error_ = std::move(result).error();
    return false;
  }

  Counter unaligned_drops_{};
  Counter coalesced_ticks_{};
  Counter window_timeouts_{};

 private:
  const bool input_driven_;
  const bool ticks_;
  const bool decided_when_seen_;
  Error error_{};
};

/// What a trigger is made of.
struct TriggerParts {
  const TemporalTriggerPlanRecord& record;
  InputSet& inputs;       ///< All of the operator, by port.
  ClockRef clock;         ///< Of the record, or the default clock.
  SourceRuntime* source;  ///< The one that the record names; null where it names none.
};
[[nodiscard]] std::unique_ptr<TriggerState> make_trigger(const TriggerParts& parts);

}  // namespace weftline::runtime
