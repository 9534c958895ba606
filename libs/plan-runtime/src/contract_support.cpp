// SPDX-License-Identifier: Apache-2.0
#include "contract_support.hpp"

#include <algorithm>
#include <cstdint>

namespace weftline::runtime {
namespace {

using Kind = TemporalRecordTriggerKind;

/// What of an operator's trigger can't be run; empty when all can.
std::string unsupported_trigger(const OperatorPlanRecord& op) {
  const TemporalTriggerPlanRecord& trigger = op.trigger;
  const bool known = trigger.kind == Kind::kAnyInput || trigger.kind == Kind::kEach ||
                     trigger.kind == Kind::kClock || trigger.kind == Kind::kAligned;
  if (!known) return "a trigger other than OnEach, OnAnyInput, OnClock and OnAligned";
  if (!op.sources.empty()) return "the readiness source " + op.sources.front().name;
  if (trigger.phase_origin != ClockPhaseOrigin::kCapturedAtSuccessfulStart) {
    return "a clock phase of an absolute origin";
  }
  if (trigger.max_start_delay_ns) return "a largest start delay";
  if (trigger.complete_after_computes) return "an end after a number of calls";
  return {};
}

std::string unsupported_selection(const EdgeSelectionRecord& selection) {
  if (!selection.triggering) return "an input that its trigger does not wait for";
  if (selection.selector != InputSelectorKind::kExact) return "a selector other than Exact";
  const bool replaces = selection.missing == MissingDataKind::kReuseLast ||
                        selection.missing == MissingDataKind::kSafeDefault;
  return replaces ? "a replacement for missing samples" : "";
}

}  // namespace

expected<void, Error> check_contracts_supported(const PlanRecords& plan, std::string& place) {
  const auto refuse = [&](const std::string& where, const std::string& what) {
    place = where;
    return fail(ErrorCode::kNotSupported, "RUN_CONTRACT_UNSUPPORTED",
                "the contract has " + what + ", which this runtime does not run yet");
  };
  for (const OperatorPlanRecord& op : plan.operators) {
    if (const std::string what = unsupported_trigger(op); !what.empty()) {
      return refuse(op.path, what);
    }
    std::vector<bool> waited_for(op.inputs.size());
    for (const std::uint32_t input : op.trigger.inputs) {
      if (input < waited_for.size()) waited_for[input] = true;
    }
    const auto side = std::ranges::find(waited_for, false);
    if (side != waited_for.end()) {
      const auto port = static_cast<std::size_t>(side - waited_for.begin());
      return refuse(op.path + "." + op.inputs[port].name,
                    "an input that its trigger does not wait for");
    }
  }
  for (const EdgeSelectionRecord& selection : plan.edge_selections) {
    const std::string what = unsupported_selection(selection);
    if (what.empty()) continue;
    const std::size_t edge = selection.edge.value;
    return refuse(
        edge < plan.payload_edges.size() ? plan.input_name(plan.payload_edges[edge].target) : "?",
        what);
  }
  return {};
}

}  // namespace weftline::runtime
