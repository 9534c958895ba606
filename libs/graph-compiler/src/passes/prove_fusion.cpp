// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators' streams, pools with their memory kind, edges; the graph's topics.
// Adds: for each edge behind a pool in device memory whether its fences can be left out, with the
// reason; the fused stream of the pools where they can.
//
// The proof (rule 5): all that ever touches a slot is one writer and one reader, and both are on
// one stream. So its order is the order of the fences, and the next writer of the slot, the same
// operator, is behind the reader by the stream alone.

#include <algorithm>
#include <string>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

/// A reader with a tensor output that has no pool may hand the tensor on to anybody.
const OutputPortRecord* forwarding_output(const OperatorPlanRecord& reader) {
  const auto found = std::ranges::find_if(reader.outputs, is_pass_through);
  return found != reader.outputs.end() ? &*found : nullptr;
}

/// Why not; empty when the edge is proven.
std::string objection(const CompileState& state, const PayloadEdgePlanRecord& edge) {
  const PlanRecords& plan = state.plan;
  const std::string output = plan.output_name(edge.source);
  const auto legs = std::ranges::count_if(
      state.outgoing[edge.source.vertex.value],
      [&](std::uint32_t index) { return plan.payload_edges[index].source == edge.source; });
  if (legs != 1) return output + " has " + std::to_string(legs) + " successors";
  for (const ExportSnapshot& topic : state.graph.exports) {
    if (std::ranges::find(topic.sources, edge.source) != topic.sources.end()) {
      return output + " is exported as " + topic.uri + ", too";
    }
  }
  const OperatorPlanRecord& writer = plan.operators[edge.source.vertex.value];
  const OperatorPlanRecord& reader = plan.operators[edge.target.vertex.value];
  if (!writer.stream.valid() || !reader.stream.valid()) {
    return (writer.stream.valid() ? reader.path : writer.path) + " has no stream";
  }
  if (writer.stream != reader.stream) {
    return writer.path + " is on stream " + std::to_string(writer.stream.value) + ", " +
           reader.path + " on stream " + std::to_string(reader.stream.value);
  }
  if (const OutputPortRecord* const further = forwarding_output(reader)) {
    return reader.path + " may hand the tensor on by " + further->name + ", which has no pool";
  }
  return {};
}

}  // namespace

void prove_fusion(CompileState& state) {
  for (const PayloadEdgePlanRecord& edge : state.plan.payload_edges) {
    TensorAllocationPlanRecord* const pool = state.pool_of(edge.source);
    if (pool == nullptr || !is_device_resident(pool->memory_kind)) continue;
    FusionDecisionRecord decision{edge.edge, false, objection(state, edge)};
    if (decision.reason.empty()) {
      pool->fused_stream = state.op(edge.source.vertex).stream;
      decision.fused = true;
      decision.reason =
          "one writer, one reader, both on stream " + std::to_string(pool->fused_stream.value);
    }
    state.plan.fusion_decisions.push_back(std::move(decision));
  }
}

}  // namespace weftline::passes
