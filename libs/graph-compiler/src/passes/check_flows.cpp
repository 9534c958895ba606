// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators, edges.
// Adds: errors for inputs that are not fed exactly once, for loops, and for edges whose two ends
// state different tensors; a warning for outputs that nobody receives.

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "flow_order.hpp"
#include "passes/passes.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"

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

void check_outputs(CompileState& state, const OperatorPlanRecord& op,
                   const std::set<PortRef>& exported_outputs) {
  for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
    const PortRef output{op.id, port};
    const bool consumed = std::ranges::any_of(
        state.outgoing[op.id.value],
        [&](std::uint32_t index) { return state.plan.payload_edges[index].source == output; });
    if (consumed || exported_outputs.contains(output)) continue;
    state.warning("GRAPH_OUTPUT_UNCONNECTED", op.path + "." + op.outputs[port].name,
                  "nothing receives what this output emits",
                  "connect it, or leave it as it is: an emit then reaches 0 recipients");
  }
}

std::string text(MemoryKind kind) { return std::string(memory_kind_name(kind)); }
std::string text(DLDataType dtype) { return dtype_name(dtype); }
std::string text(std::uint32_t rank) { return std::to_string(rank); }

bool differs(MemoryKind a, MemoryKind b) { return a != b; }
bool differs(DLDataType a, DLDataType b) { return !same_dtype(a, b); }
bool differs(std::uint32_t a, std::uint32_t b) { return a != b; }

template <class Fact>
void compare(std::string& differences, std::string_view what, const std::optional<Fact>& produced,
             const std::optional<Fact>& expected_fact) {
  if (!produced || !expected_fact || !differs(*produced, *expected_fact)) return;
  differences.append(differences.empty() ? "" : "; ");
  differences.append("the output states ").append(what).append(" ").append(text(*produced));
  differences.append(", the input ").append(text(*expected_fact));
}

void check_tensors(CompileState& state, const PayloadEdgePlanRecord& edge) {
  const auto& produced = state.output(edge.source).tensor;
  const auto& wanted = state.input(edge.target).tensor;
  if (!produced || !wanted) return;
  const TensorRepresentation& out = produced->representation;
  const TensorRepresentation& in = wanted->representation;
  std::string differences;
  compare(differences, "memory kind", out.memory_kind, in.memory_kind);
  compare(differences, "dtype", out.dtype, in.dtype);
  compare(differences, "rank", out.rank, in.rank);
  if (differences.empty()) return;
  state.error("PHYSICAL_TENSOR_LAYOUT_MISMATCH", state.edge_name(edge), differences,
              "state the same on both sides, or put an operator between them that converts");
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
  std::set<PortRef> exported;
  for (const ExportSnapshot& topic : state.graph.exports) {
    exported.insert(topic.sources.begin(), topic.sources.end());
  }
  for (const OperatorPlanRecord& op : state.plan.operators) {
    check_inputs(state, op);
    check_outputs(state, op, exported);
  }
  for (const PayloadEdgePlanRecord& edge : state.plan.payload_edges) check_tensors(state, edge);
  check_loops(state);
}

}  // namespace weftline::passes
