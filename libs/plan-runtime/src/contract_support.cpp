// SPDX-License-Identifier: Apache-2.0
#include "contract_support.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace weftline::runtime {
namespace {

using Kind = TemporalRecordTriggerKind;

bool waits_for_source(Kind kind) noexcept {
  return kind == Kind::kReadable || kind == Kind::kNotified || kind == Kind::kDoorbell ||
         kind == Kind::kSpin;
}

/// How many inputs a trigger of that kind may name.
bool plausible_inputs(const OperatorPlanRecord& op) {
  const std::size_t named = op.trigger.inputs.size();
  switch (op.trigger.kind) {
    case Kind::kEach:
    case Kind::kWindow:
      return named == 1;
    case Kind::kAligned:
      return named >= 2;
    case Kind::kAnyInput:
      return named == op.inputs.size() && named > 0;
    default:
      return named == 0;
  }
}

/// What of an operator's trigger makes no sense; empty when all does.
std::string trigger_mistake(const PlanRecords& plan, const OperatorPlanRecord& op) {
  const TemporalTriggerPlanRecord& trigger = op.trigger;
  const bool waits = trigger.kind == Kind::kClock || trigger.kind == Kind::kWindow;
  if (!plausible_inputs(op)) {
    return "its trigger waits for " + std::to_string(trigger.inputs.size()) + " inputs";
  }
  const bool known_inputs = std::ranges::all_of(
      trigger.inputs, [&](std::uint32_t input) { return input < op.inputs.size(); });
  if (!known_inputs) return "its trigger waits for an input that is not there";
  if (waits && trigger.clock.valid() && trigger.clock.value >= plan.clocks.size()) {
    return "its trigger waits on a clock that is not there";
  }
  if (trigger.kind == Kind::kClock && trigger.period_ns <= 0) return "its ticks have no period";
  if (trigger.kind == Kind::kWindow && trigger.max_pending_windows == 0) {
    return "its trigger may have no window open";
  }
  if (waits_for_source(trigger.kind) && trigger.source >= op.sources.size()) {
    return "its trigger waits for a readiness source that is not there";
  }
  if (trigger.complete_after_computes == 0U) return "it ends before its first call";
  return {};
}

std::string selection_mistake(const OperatorPlanRecord& op, std::uint32_t port,
                              const EdgeSelectionRecord& selection) {
  const bool triggers = std::ranges::find(op.trigger.inputs, port) != op.trigger.inputs.end();
  if (selection.selector > InputSelectorKind::kBracketedWindow) return "its selector is unknown";
  if (selection.triggering != triggers) return "its selection and the trigger contradict";
  if (selection.max_selected_samples == 0) return "its selection may take nothing";
  const bool anchor = triggers && op.trigger.kind == Kind::kWindow;
  if (anchor && selection.pending_cache < op.trigger.max_pending_windows) {
    return "fewer anchors may be held than windows be open";
  }
  const bool reuses = selection.missing == MissingDataKind::kReuseLast;
  if (reuses && selection.reuse_cache < selection.max_selected_samples) {
    return "less may be held for reuse than is selected";
  }
  return {};
}

}  // namespace

expected<void, Error> check_contracts_supported(const PlanRecords& plan, std::string& place) {
  const auto refuse = [&](std::string where, const std::string& what) {
    place = std::move(where);
    return fail(ErrorCode::kIncompatible, "RUN_CONTRACT_INVALID",
                what + "; run a plan as compile() made it");
  };
  for (const OperatorPlanRecord& op : plan.operators) {
    if (op.trigger.kind >= Kind::kPredicate) {
      place = op.path;
      return fail(ErrorCode::kNotSupported, "RUN_CONTRACT_UNSUPPORTED",
                  "its trigger is of kind " +
                      std::to_string(static_cast<unsigned>(op.trigger.kind)) +
                      ", which this version does not run");
    }
    if (const std::string what = trigger_mistake(plan, op); !what.empty()) {
      return refuse(op.path, what);
    }
  }
  const auto check = [&](PortRef target, const EdgeSelectionRecord& selection) {
    const OperatorPlanRecord& op = plan.operators[target.vertex.value];
    return selection_mistake(op, target.port, selection);
  };
  for (const EdgeSelectionRecord& selection : plan.edge_selections) {
    if (selection.edge.value >= plan.payload_edges.size()) {
      return refuse("plan", "a selection is of an edge that is not there");
    }
    const PortRef target = plan.payload_edges[selection.edge.value].target;
    if (const std::string what = check(target, selection); !what.empty()) {
      return refuse(plan.input_name(target), what);
    }
  }
  for (const ImportEdgePlanRecord& edge : plan.import_edges) {
    if (const std::string what = check(edge.target, edge.selection); !what.empty()) {
      return refuse(plan.input_name(edge.target), what);
    }
  }
  return {};
}

}  // namespace weftline::runtime
