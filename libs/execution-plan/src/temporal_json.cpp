// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {

/// Facts that belong to another kind of trigger are null.
JsonValue json(const TemporalTriggerPlanRecord& trigger) {
  const bool clock = trigger.kind == TemporalRecordTriggerKind::kClock;
  const bool aligned = trigger.kind == TemporalRecordTriggerKind::kAligned;
  return Object{{"clock", json(trigger.clock)},
                {"inputs", list(trigger.inputs)},
                {"kind", trigger_kind_name(trigger.kind)},
                {"origin", trigger_origin_name(trigger.origin)},
                {"period_ns", clock ? JsonValue(trigger.period_ns) : JsonValue()},
                {"phase_ns", clock ? JsonValue(trigger.phase_ns) : JsonValue()},
                {"window_ns", aligned ? JsonValue(trigger.window_ns) : JsonValue()}};
}

}  // namespace weftline
