// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators, clocks.
// Adds: each operator's trigger, complete; errors for triggers that can't run and for a graph
// without a default clock.

#include <algorithm>
#include <string>
#include <utility>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

using Kind = TemporalRecordTriggerKind;

TemporalTriggerPlanRecord any_input(const OperatorPlanRecord& op) {
  TemporalTriggerPlanRecord trigger{.kind = Kind::kAnyInput,
                                    .origin = TemporalRecordOrigin::kCoreSynthesized};
  for (std::uint32_t port = 0; port < op.inputs.size(); ++port) trigger.inputs.push_back(port);
  return trigger;
}

ClockId default_clock(const GraphSnapshot& graph) {
  return graph.default_clock ? ClockId{*graph.default_clock} : ClockId{};
}

void check_clock(CompileState& state, const OperatorPlanRecord& op) {
  const auto& clock = state.graph.default_clock;
  if (clock && !state.graph.clocks[*clock].independent_progress) {
    state.error("CONTRACT_CLOCK_NOT_INDEPENDENT", op.path,
                "OnClock ticks on the default clock \"" + state.graph.clocks[*clock].name +
                    "\", whose time does not go on by itself, so no lane can sleep until a tick",
                "make a clock with independent_progress() the default, or trigger by an input");
  }
  if (op.trigger.period_ns <= 0) {
    state.error("CONTRACT_PERIOD_INVALID", op.path,
                "a period of " + std::to_string(op.trigger.period_ns) + " ns never ticks",
                "give OnClock a period of at least 1 ns");
  }
  if (op.trigger.phase_ns < 0) {
    state.error("CONTRACT_PHASE_INVALID", op.path,
                "a phase of " + std::to_string(op.trigger.phase_ns) + " ns lies before the start",
                "give OnClock a phase of 0 or more");
  }
}

void check_aligned(CompileState& state, const OperatorPlanRecord& op) {
  auto inputs = op.trigger.inputs;
  std::ranges::sort(inputs);
  const auto repeats = std::ranges::unique(inputs);
  const std::size_t distinct = inputs.size() - repeats.size();
  if (distinct < 2 || !repeats.empty()) {
    state.error("CONTRACT_ALIGNED_INPUTS", op.path,
                "OnAligned names " + std::to_string(op.trigger.inputs.size()) + " inputs, " +
                    std::to_string(distinct) + " of them distinct",
                "name two or more inputs, each once");
  }
  if (op.trigger.window_ns < 0) {
    state.error("CONTRACT_WINDOW_INVALID", op.path,
                "a window of " + std::to_string(op.trigger.window_ns) + " ns admits no samples",
                "give OnAligned a window of 0 or more");
  }
}

/// Inputs that do not activate their operator have no selector in this version.
void check_side_inputs(CompileState& state, const OperatorPlanRecord& op) {
  for (std::uint32_t port = 0; port < op.inputs.size(); ++port) {
    if (std::ranges::find(op.trigger.inputs, port) != op.trigger.inputs.end()) continue;
    state.error("CONTRACT_SIDE_INPUT_UNSUPPORTED", op.path + "." + op.inputs[port].name,
                "the operator's trigger does not name this input, so it would never be received",
                "name it in the trigger, or use OnAnyInput");
  }
}

void check_trigger(CompileState& state, const OperatorPlanRecord& op) {
  for (const std::uint32_t input : op.trigger.inputs) {
    if (input < op.inputs.size()) continue;
    state.error("CONTRACT_INPUT_UNKNOWN", op.path,
                "its trigger names input number " + std::to_string(input) + " of " +
                    std::to_string(op.inputs.size()),
                "name inputs of this operator that setup() declares");
  }
  switch (op.trigger.kind) {
    case Kind::kAnyInput:
    case Kind::kEach:
      break;
    case Kind::kClock:
      check_clock(state, op);
      break;
    case Kind::kAligned:
      check_aligned(state, op);
      break;
    default:
      state.error("CONTRACT_KIND_UNSUPPORTED", op.path,
                  "its trigger is of kind " +
                      std::to_string(static_cast<unsigned>(op.trigger.kind)) +
                      ", which this version can't run",
                  "use OnEach, OnAnyInput, OnClock or OnAligned");
      return;
  }
  check_side_inputs(state, op);
}

}  // namespace

void resolve_contracts(CompileState& state) {
  if (!state.graph.default_clock) {
    state.error(
        "RUNTIME_CLOCK_BINDING_UNAVAILABLE", "graph " + state.graph.name,
        "the graph has no default clock",
        "call graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>(\"clock\"))");
  }
  for (OperatorPlanRecord& op : state.plan.operators) {
    auto& authored = state.graph.vertices[op.id.value].trigger;
    op.trigger = authored ? std::move(*authored) : any_input(op);
    if (op.trigger.kind == Kind::kClock) op.trigger.clock = default_clock(state.graph);
    if (op.trigger.kind == Kind::kAnyInput && op.inputs.empty()) {
      state.error("OPERATOR_TRIGGER_MISSING", op.path,
                  "the operator has no input, and its contract names no trigger of its own",
                  "return a Contract with OnClock from contract()");
      continue;
    }
    check_trigger(state, op);
  }
}

}  // namespace weftline::passes
