// SPDX-License-Identifier: Apache-2.0
#include "temporal_render.hpp"

#include "quantities.hpp"

namespace weftline {
namespace {

using Kind = TemporalRecordTriggerKind;

std::string show_inputs(const OperatorPlanRecord& record) {
  std::string names;
  for (const std::uint32_t input : record.trigger.inputs) {
    names.append(names.empty() ? "" : ", ");
    names.append(input < record.inputs.size() ? record.inputs[input].name : "?");
  }
  return names;
}

std::string show_source(const OperatorPlanRecord& record) {
  const std::uint32_t index = record.trigger.source;
  return index < record.sources.size() ? record.sources[index].name : "?";
}

std::string show_clock(const TemporalTriggerPlanRecord& trigger) {
  std::string text = "every " + show_duration(trigger.period_ns);
  if (trigger.phase_origin == ClockPhaseOrigin::kExplicitAbsolute) {
    return text + " from " + show_duration(trigger.phase_ns) + " of the clock";
  }
  if (trigger.phase_ns != 0) text.append(" from ").append(show_duration(trigger.phase_ns));
  return text;
}

std::string show_kind(const OperatorPlanRecord& record) {
  const TemporalTriggerPlanRecord& trigger = record.trigger;
  switch (trigger.kind) {
    case Kind::kAnyInput:
      return record.inputs.size() == 1 ? "each " + show_inputs(record)
                                       : "any of " + show_inputs(record);
    case Kind::kEach:
      return "each " + show_inputs(record);
    case Kind::kClock:
      return show_clock(trigger);
    case Kind::kReadable:
      return "while " + show_source(record) + " is readable";
    case Kind::kNotified:
      return "each notification of " + show_source(record);
    case Kind::kDoorbell:
      return "doorbell " + show_source(record);
    case Kind::kSpin:
      return "polled edge of " + show_source(record);
    case Kind::kAligned:
      return show_inputs(record) + " aligned within " + show_duration(trigger.window_ns);
    case Kind::kWindow:
      return "window between samples of " + show_inputs(record) + ", waits " +
             show_duration(trigger.max_wait_ns) + ", " +
             std::to_string(trigger.max_pending_windows) + " pending";
    case Kind::kPredicate:
      break;
  }
  return "unknown";
}

std::string_view show_violation(OnViolation violation) {
  switch (violation) {
    case OnViolation::kReport:
      return "reports it";
    case OnViolation::kDegrade:
      return "degrades";
    case OnViolation::kFailRun:
      return "fails the run";
  }
  return "unknown";
}

std::string show_selector(const EdgeSelectionRecord& selection) {
  switch (selection.selector) {
    case InputSelectorKind::kExact:
      return selection.triggering ? "takes the sample that triggers" : "takes the sample of then";
    case InputSelectorKind::kLatestWithin: {
      std::string text = "takes the latest within ";
      text.append(selection.max_age_ns ? show_duration(*selection.max_age_ns) : "an unknown age");
      if (selection.max_age_parameter.empty()) return text;
      return text + " (parameter " + selection.max_age_parameter + ")";
    }
    case InputSelectorKind::kDrainAll:
      return "drains up to " + std::to_string(selection.max_selected_samples);
    case InputSelectorKind::kBracketedWindow:
      return "takes up to " + std::to_string(selection.max_selected_samples) + " from " +
             show_duration(selection.lookbehind_ns) + " before to " +
             show_duration(selection.lookahead_ns) + " after";
  }
  return "unknown";
}

std::string show_missing(const EdgeSelectionRecord& selection) {
  switch (selection.missing.value_or(MissingDataKind::kAbsent)) {
    case MissingDataKind::kSkip:
      return "else does not run";
    case MissingDataKind::kReuseLast:
      return "else reuses the last, up to " + std::to_string(selection.max_reuses) + " times";
    case MissingDataKind::kSafeDefault:
      return "else runs degraded";
    case MissingDataKind::kAbsent:
      return "else runs without";
    case MissingDataKind::kFail:
      return "else fails the run";
  }
  return "unknown";
}

}  // namespace

std::string show_trigger(const OperatorPlanRecord& record) {
  const TemporalTriggerPlanRecord& trigger = record.trigger;
  std::string text = show_kind(record);
  if (trigger.max_start_delay_ns) {
    text.append(", starts within ").append(show_duration(*trigger.max_start_delay_ns));
    text.append(" or ").append(show_violation(trigger.on_violation));
  }
  if (trigger.complete_after_computes) {
    text.append(", ends after ").append(std::to_string(*trigger.complete_after_computes));
  }
  return text;
}

std::string show_selection(const EdgeSelectionRecord& selection) {
  std::string text = show_selector(selection);
  if (selection.missing) text.append(", ").append(show_missing(selection));
  if (selection.cache_capacity == 0) return text;
  return text + "; holds " + std::to_string(selection.cache_capacity) + " beyond the queue";
}

}  // namespace weftline
