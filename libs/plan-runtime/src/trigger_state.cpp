// SPDX-License-Identifier: Apache-2.0
#include "trigger_state.hpp"

#include <vector>

#include "trigger_aligned.hpp"
#include "trigger_any_input.hpp"
#include "trigger_clock.hpp"
#include "trigger_doorbell.hpp"
#include "trigger_each.hpp"
#include "trigger_notified.hpp"
#include "trigger_readable.hpp"
#include "trigger_spin.hpp"
#include "trigger_window.hpp"

namespace weftline::runtime {
namespace {

std::vector<InputRuntime*> bracketed(InputSet& inputs) {
  std::vector<InputRuntime*> found;
  for (const auto& input : inputs.all()) {
    const bool waited_for =
        input->is_side() && input->selector() == InputSelectorKind::kBracketedWindow;
    if (waited_for) found.push_back(input.get());
  }
  return found;
}

}  // namespace

std::unique_ptr<TriggerState> make_trigger(const TriggerParts& parts) {
  const TemporalTriggerPlanRecord& record = parts.record;
  std::vector<InputRuntime*> triggering;
  triggering.reserve(record.inputs.size());
  for (const std::uint32_t port : record.inputs) triggering.push_back(&parts.inputs[port]);
  switch (record.kind) {
    case TemporalRecordTriggerKind::kAnyInput:
      return std::make_unique<AnyInputTrigger>(std::move(triggering));
    case TemporalRecordTriggerKind::kEach:
      return std::make_unique<EachTrigger>(*triggering.front());
    case TemporalRecordTriggerKind::kClock:
      return std::make_unique<ClockTrigger>(record, parts.clock);
    case TemporalRecordTriggerKind::kReadable:
      return std::make_unique<ReadableTrigger>(*parts.source);
    case TemporalRecordTriggerKind::kNotified:
      return std::make_unique<NotifiedTrigger>(*parts.source);
    case TemporalRecordTriggerKind::kDoorbell:
      return std::make_unique<DoorbellTrigger>(*parts.source);
    case TemporalRecordTriggerKind::kSpin:
      return std::make_unique<SpinTrigger>(*parts.source);
    case TemporalRecordTriggerKind::kAligned:
      return std::make_unique<AlignedTrigger>(std::move(triggering), record.window_ns);
    case TemporalRecordTriggerKind::kWindow:
      return std::make_unique<WindowTrigger>(record, *triggering.front(), bracketed(parts.inputs),
                                             parts.clock);
    case TemporalRecordTriggerKind::kPredicate:
      break;
  }
  throw RuntimeError({ErrorCode::kNotSupported, "RUN_TRIGGER_UNSUPPORTED",
                      "its trigger is of kind " +
                          std::to_string(static_cast<unsigned>(record.kind)) +
                          ", which this version does not run",
                      0});
}

}  // namespace weftline::runtime
