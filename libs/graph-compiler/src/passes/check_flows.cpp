// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators, edges.
// Adds: errors for inputs that are not fed exactly once and for loops; a warning for outputs that
// nobody receives.

#include <algorithm>
#include <string>

#include "flow_order.hpp"
#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

constexpr std::size_t kShownOfLoop = 8;

void check_inputs(CompileState& state, const OperatorPlanRecord& op) {
  for (std::uint32_t port = 0; port < op.inputs.size(); ++port) {
    const std::string place = op.path + "." + op.inputs[port].name;
    std::string sources;
    std::size_t count = 0;
    for (const std::uint32_t index : state.incoming[op.id.value]) {
      const PayloadEdgePlanRecord& edge = state.plan.payload_edges[index];
      if (edge.target.port != port) continue;
      ++count;
      sources.append(sources.empty() ? "" : ", ").append(state.plan.output_name(edge.source));
    }
    if (const auto imports = state.imports_into.find({op.id, port});
        imports != state.imports_into.end()) {
      for (const std::uint32_t index : imports->second) {
        ++count;
        sources.append(sources.empty() ? "" : ", ").append(state.graph.imports[index].uri);
      }
    }
    if (count == 0 && state.behind_open_export.contains({op.id, port})) continue;
    if (count == 0) {
      state.error("GRAPH_INPUT_UNCONNECTED", place, "no flow leads to this input",
                  "add_flow() an output of " + op.inputs[port].payload.to_string() + " to it");
    } else if (count > 1) {
      state.error("GRAPH_INPUT_FAN_IN", place,
                  std::to_string(count) + " outputs lead to one input: " + sources,
                  "give the operator one input for each of them");
    }
  }
}

void check_outputs(CompileState& state, const OperatorPlanRecord& op) {
  for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
    const PortRef output{op.id, port};
    if (!state.arms_of(output).empty() || state.topic_of(output) != nullptr) continue;
    state.warning("GRAPH_OUTPUT_UNCONNECTED", op.path + "." + op.outputs[port].name,
                  "nothing receives what this output emits",
                  "connect it, or leave it as it is: an emit then reaches 0 recipients");
  }
}

void check_loops(CompileState& state) {
  Successors successors(state.plan.operators.size());
  for (const PayloadEdgePlanRecord& edge : state.plan.payload_edges) {
    successors[edge.source.vertex.value].push_back(edge.target.vertex.value);
  }
  for (const auto& loop : find_loops(successors)) {
    const auto path = [&](std::size_t i) { return state.plan.operators[loop[i]].path; };
    std::string way;
    for (std::size_t i = 0; i < std::min(loop.size(), kShownOfLoop); ++i) {
      way.append(path(i)).append(" -> ");
    }
    if (loop.size() > kShownOfLoop) {
      way.append("… (").append(std::to_string(loop.size() - kShownOfLoop)).append(" more) -> ");
    }
    state.error("GRAPH_CYCLE", path(0),
                "flows lead in a loop of " + std::to_string(loop.size()) +
                    (loop.size() == 1 ? " operator: " : " operators: ") + way + path(0),
                "take out one of these flows");
  }
}

}  // namespace

void check_flows(CompileState& state) {
  for (const OperatorPlanRecord& op : state.plan.operators) {
    check_inputs(state, op);
    check_outputs(state, op);
  }
  check_loops(state);
}

}  // namespace weftline::passes
