// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/ids.hpp"

namespace weftline {

/// Values and order are those of the public vocabulary; plans of this version use all but
/// kPredicate.
enum class TemporalRecordTriggerKind : std::uint8_t {
  kAnyInput = 0,
  kEach,
  kClock,
  kReadable,
  kNotified,
  kDoorbell,
  kSpin,
  kAligned,
  kWindow,
  kPredicate,
};
enum class TemporalRecordOrigin : std::uint8_t { kAuthored = 0, kCoreSynthesized };

/// What the phase of a clock trigger counts from.
enum class ClockPhaseOrigin : std::uint8_t {
  kCapturedAtSuccessfulStart = 0,  ///< When the operator crosses start.
  kExplicitAbsolute,               ///< The clock's own zero.
};

/// What becomes of a candidate that could not start in time.
enum class OnViolation : std::uint8_t {
  kReport = 0,  ///< compute() runs once and sees that it is late.
  kDegrade,     ///< The same, and what it emits is marked as degraded.
  kFailRun,     ///< compute() does not run; the run fails.
};

/// Something outside the flows that activates an operator.
enum class ReadinessSourceKind : std::uint8_t {
  kNotification = 0,  ///< Counted: each notification is one activation.
  kReadable,          ///< A level: ready as long as there is something to read.
  kDoorbell,          ///< A count that only grows; rings between two activations are one.
  kSpin,              ///< A flag that is polled; its edge from false to true counts.
};

/// How a lane learns that a source is ready.
enum class ReadinessWakeRequirement : std::uint8_t {
  kDeploymentSelected = 0,  ///< It may sleep.
  kBusyPollRequired,        ///< It has to keep looking.
};

/// A readiness source that setup() declared; by its index among the operator's sources.
struct SourcePlanRecord {
  std::string name{};
  ReadinessSourceKind kind{ReadinessSourceKind::kNotification};
  /// Outstanding notifications; 1 for the other kinds, which coalesce.
  std::uint32_t capacity{1};
  std::uint32_t sender_reference_capacity{0};  ///< kNotification: senders that may exist at a time.
  ClockId clock{};                             ///< Stamps readiness; invalid in a rejected plan.
  ReadinessWakeRequirement wake_requirement{ReadinessWakeRequirement::kDeploymentSelected};
};

/// When an operator runs. Facts of other kinds of trigger are 0 or invalid.
struct TemporalTriggerPlanRecord {
  TemporalRecordTriggerKind kind{TemporalRecordTriggerKind::kAnyInput};
  TemporalRecordOrigin origin{TemporalRecordOrigin::kAuthored};
  /// What it waits for. kEach and kWindow (the anchor): one; kAligned: two or more; kAnyInput: all.
  std::vector<std::uint32_t> inputs{};
  ClockId clock{};            ///< kClock: ticks; kWindow: measures the wait.
  std::int64_t period_ns{0};  ///< kClock, positive
  std::int64_t phase_ns{0};   ///< kClock, from its origin
  std::int64_t window_ns{0};  ///< kAligned: largest spread of capture times, inclusive
  ClockPhaseOrigin phase_origin{ClockPhaseOrigin::kCapturedAtSuccessfulStart};  ///< kClock
  std::int64_t max_wait_ns{0};                             ///< kWindow, positive
  std::uint32_t max_pending_windows{0};                    ///< kWindow, positive
  std::uint32_t source{0};                                 ///< kReadable to kSpin: its index
  std::optional<std::uint64_t> complete_after_computes{};  ///< Absent: it never ends by itself.

  // Of every kind.

  /// Inputs that have a fresh sample in each activation, ascending.
  std::vector<std::uint32_t> presence_guaranteed_inputs{};
  ClockId reference_clock{};                ///< Ages and windows are measured on it.
  std::uint32_t bounded_state_capacity{0};  ///< Candidates that the trigger keeps outside queues.
  std::optional<std::int64_t> max_start_delay_ns{};  ///< Absent: a late start is no violation.
  OnViolation on_violation{OnViolation::kReport};    ///< With a largest start delay.
};

enum class InputSelectorKind : std::uint8_t {
  kExact = 0,        ///< The sample that the trigger pins, or the one captured at the reference.
  kLatestWithin,     ///< The newest at or before the reference, not older than an inclusive age.
  kDrainAll,         ///< All that wait, in order.
  kBracketedWindow,  ///< All around the reference, or none.
};

/// What an activation does when an input's selector finds nothing.
enum class MissingDataKind : std::uint8_t {
  kSkip = 0,     ///< There is no activation.
  kReuseLast,    ///< The input shows what it selected last, marked as reused.
  kSafeDefault,  ///< The operator goes its degraded way; there is no data.
  kAbsent,       ///< The input is empty.
  kFail,         ///< The run fails.
};

enum class SelectionCardinality : std::uint8_t { kOne = 0, kBatch };

/// What one activation takes from one edge; one for each edge, in their order.
struct EdgeSelectionRecord {
  EdgeId edge{};
  InputSelectorKind selector{InputSelectorKind::kExact};
  TemporalRecordOrigin origin{TemporalRecordOrigin::kCoreSynthesized};
  bool triggering{true};                     ///< The trigger waits for this input.
  std::optional<std::int64_t> max_age_ns{};  ///< kLatestWithin; absent when nothing valid says it.
  std::string max_age_parameter{};           ///< The parameter that says it; empty: a literal.
  std::int64_t lookbehind_ns{0};             ///< kBracketedWindow
  std::int64_t lookahead_ns{0};              ///< kBracketedWindow
  /// Absent where the trigger guarantees a sample, or nothing is said of one of OnAnyInput's
  /// inputs.
  std::optional<MissingDataKind> missing{};
  std::uint32_t max_reuses{0};  ///< kReuseLast: in a row, positive
  std::uint32_t max_selected_samples{1};
  SelectionCardinality cardinality{SelectionCardinality::kOne};
  ClockId reference_clock{};
  /// Samples that are held outside the queue, beyond the one in the operator's hands: pools have
  /// as many slots more. The sum of the next three.
  std::uint32_t cache_capacity{0};
  std::uint32_t selector_cache{0};  ///< The selector's own.
  std::uint32_t reuse_cache{0};     ///< kReuseLast: what was selected last.
  std::uint32_t pending_cache{0};   ///< kWindow's anchor: anchors whose windows are open.
};

}  // namespace weftline
