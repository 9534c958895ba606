// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/authored_contract.hpp"

#include <chrono>
#include <cstddef>

namespace weftline::testing {
namespace {

using std::chrono::nanoseconds;

MissingData policy_of(const EdgeSelectionRecord& selection) {
  switch (selection.missing.value_or(MissingDataKind::kSkip)) {
    case MissingDataKind::kReuseLast:
      return ReuseLast{.max_reuses = selection.max_reuses};
    case MissingDataKind::kSafeDefault:
      return SafeDefault{};
    case MissingDataKind::kAbsent:
      return Absent{};
    case MissingDataKind::kFail:
      return Fail{};
    default:
      return Skip{};
  }
}

InputSelector selector_of(const EdgeSelectionRecord& selection) {
  switch (selection.selector) {
    case InputSelectorKind::kLatestWithin:
      return LatestWithin{.max_age = nanoseconds(selection.max_age_ns.value_or(1))};
    case InputSelectorKind::kDrainAll:
      return DrainAll{.max_samples = selection.max_selected_samples};
    case InputSelectorKind::kBracketedWindow:
      return BracketedWindow{.lookbehind = nanoseconds(selection.lookbehind_ns),
                             .lookahead = nanoseconds(selection.lookahead_ns),
                             .max_samples = selection.max_selected_samples};
    default:
      return Exact{};
  }
}

}  // namespace

void AuthoredContract::declare_source(OperatorSpec& spec) {
  if (records_.sources.empty()) return;
  const SourcePlanRecord& source = records_.sources.front();
  switch (source.kind) {
    case ReadinessSourceKind::kNotification:
      spec.notification_source(notification, source.name).capacity(source.capacity);
      break;
    case ReadinessSourceKind::kReadable:
      spec.readable_source(readable, source.name);
      break;
    case ReadinessSourceKind::kDoorbell:
      spec.doorbell_source(doorbell, source.name);
      break;
    case ReadinessSourceKind::kSpin:
      spec.spin_source(spin, source.name);
      break;
  }
}

Contract AuthoredContract::contract(std::span<const InputPort* const> inputs) const {
  Contract contract;
  contract.trigger(trigger(inputs));
  for (std::size_t port = 0; port < records_.selections.size(); ++port) {
    const EdgeSelectionRecord& selection = records_.selections[port];
    if (selection.triggering && !selection.missing) continue;
    contract.select(*inputs[port], selector_of(selection), policy_of(selection));
  }
  if (const auto& calls = records_.trigger.complete_after_computes) {
    contract.complete_after({.limit = *calls});
  }
  return contract;
}

Trigger AuthoredContract::trigger(std::span<const InputPort* const> inputs) const {
  using Kind = TemporalRecordTriggerKind;
  const TemporalTriggerPlanRecord& record = records_.trigger;
  switch (record.kind) {
    case Kind::kEach:
      return OnEach{*inputs[record.inputs[0]]};
    case Kind::kClock:
      return OnClock{.period = nanoseconds(record.period_ns),
                     .phase = nanoseconds(record.phase_ns),
                     .origin = record.phase_origin};
    case Kind::kReadable:
      return OnReadable{readable};
    case Kind::kNotified:
      return OnNotified{notification};
    case Kind::kDoorbell:
      return OnDoorbell{doorbell};
    case Kind::kSpin:
      return OnSpin{spin};
    case Kind::kAligned: {
      OnAligned aligned{.inputs = {}, .window = nanoseconds(record.window_ns)};
      for (const std::uint32_t port : record.inputs) aligned.inputs.emplace_back(*inputs[port]);
      return aligned;
    }
    case Kind::kWindow:
      return OnWindow{.anchor = *inputs[record.inputs[0]],
                      .max_wait = nanoseconds(record.max_wait_ns),
                      .max_pending_windows = record.max_pending_windows};
    default:
      return OnAnyInput{};
  }
}

}  // namespace weftline::testing
