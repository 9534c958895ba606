// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {

/// Facts that belong to another kind of trigger are null.
JsonText json(const TemporalTriggerPlanRecord& trigger) {
  using Kind = TemporalRecordTriggerKind;
  const auto only = [&](Kind kind, JsonText value) {
    return trigger.kind == kind ? std::move(value) : JsonText();
  };
  const bool from_source = trigger.kind >= Kind::kReadable && trigger.kind <= Kind::kSpin;
  return Object{
      {"bounded_state_capacity", trigger.bounded_state_capacity},
      {"clock", json(trigger.clock)},
      {"complete_after_computes", optional(trigger.complete_after_computes)},
      {"inputs", list(trigger.inputs)},
      {"kind", trigger_kind_name(trigger.kind)},
      {"max_pending_windows", only(Kind::kWindow, trigger.max_pending_windows)},
      {"max_start_delay_ns", optional(trigger.max_start_delay_ns)},
      {"max_wait_ns", only(Kind::kWindow, trigger.max_wait_ns)},
      {"on_violation",
       trigger.max_start_delay_ns ? JsonText(violation_name(trigger.on_violation)) : JsonText()},
      {"origin", trigger_origin_name(trigger.origin)},
      {"period_ns", only(Kind::kClock, trigger.period_ns)},
      {"phase_ns", only(Kind::kClock, trigger.phase_ns)},
      {"phase_origin", only(Kind::kClock, phase_origin_name(trigger.phase_origin))},
      {"presence_guaranteed_inputs", list(trigger.presence_guaranteed_inputs)},
      {"reference_clock", json(trigger.reference_clock)},
      {"source", from_source ? JsonText(trigger.source) : JsonText()},
      {"window_ns", only(Kind::kAligned, trigger.window_ns)}};
}

JsonText json(const SourcePlanRecord& source) {
  const bool counted = source.kind == ReadinessSourceKind::kNotification;
  return Object{{"capacity", source.capacity},
                {"clock", json(source.clock)},
                {"kind", source_kind_name(source.kind)},
                {"name", text(source.name)},
                {"sender_reference_capacity",
                 counted ? JsonText(source.sender_reference_capacity) : JsonText()},
                {"wake_requirement", wake_requirement_name(source.wake_requirement)}};
}

/// Facts that belong to another selector or policy are null.
JsonText json(const EdgeSelectionRecord& selection) {
  const bool bracket = selection.selector == InputSelectorKind::kBracketedWindow;
  const bool reuse = selection.missing == MissingDataKind::kReuseLast;
  return Object{
      {"cache_capacity", selection.cache_capacity},
      {"cardinality", cardinality_name(selection.cardinality)},
      {"edge", json(selection.edge)},
      {"lookahead_ns", bracket ? JsonText(selection.lookahead_ns) : JsonText()},
      {"lookbehind_ns", bracket ? JsonText(selection.lookbehind_ns) : JsonText()},
      {"max_age_ns", optional(selection.max_age_ns)},
      {"max_age_parameter",
       selection.max_age_parameter.empty() ? JsonText() : text(selection.max_age_parameter)},
      {"max_reuses", reuse ? JsonText(selection.max_reuses) : JsonText()},
      {"max_selected_samples", selection.max_selected_samples},
      {"missing", selection.missing ? JsonText(missing_data_name(*selection.missing)) : JsonText()},
      {"origin", trigger_origin_name(selection.origin)},
      {"pending_cache", selection.pending_cache},
      {"reference_clock", json(selection.reference_clock)},
      {"reuse_cache", selection.reuse_cache},
      {"selector", selector_name(selection.selector)},
      {"selector_cache", selection.selector_cache},
      {"triggering", selection.triggering}};
}

}  // namespace weftline
