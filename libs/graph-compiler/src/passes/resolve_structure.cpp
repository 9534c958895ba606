// SPDX-License-Identifier: Apache-2.0
//
// Needs: the graph in canonical order.
// Adds: embedded graphs and regions, the latter with all their operators; errors for exported
// inputs that nothing is led to, warnings for regions without operators.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "passes/passes.hpp"
#include "structure_order.hpp"

namespace weftline::passes {
namespace {

ExportedPortRecord record(const ExportedPortSnapshot& exported) {
  return {exported.name, exported.ports};
}

GraphInstanceId instance_id(const std::optional<std::uint32_t>& index) {
  return index ? GraphInstanceId{*index} : GraphInstanceId{};
}

void record_instance(CompileState& state, std::uint32_t index) {
  const GraphInstanceSnapshot& instance = state.graph.instances[index];
  GraphInstancePlanRecord added{.id = GraphInstanceId{index},
                                .path = instance.path,
                                .parent = instance_id(instance.parent),
                                .type_id = instance.type_id,
                                .type_version = instance.type_version,
                                .members = instance.members};
  for (const auto& input : instance.inputs) added.inputs.push_back(record(input));
  for (const auto& output : instance.outputs) added.outputs.push_back(record(output));
  state.plan.graph_instances.push_back(std::move(added));
}

void check_exported_inputs(CompileState& state, const GraphInstanceSnapshot& instance) {
  for (const ExportedPortSnapshot& input : instance.inputs) {
    if (input.connected) continue;
    std::string inside;
    for (const PortRef port : input.ports) {
      inside.append(inside.empty() ? "" : ", ").append(state.plan.input_name(port));
      state.behind_open_export.insert(port);
    }
    state.error(
        "GRAPH_EXPORT_UNCONNECTED", instance.path + "." + input.name,
        "no flow leads to this exported input, which stands for " + inside,
        "add_flow() an output to it in the graph around " + instance.path + ", or export it there");
  }
}

/// Own members and those of whole graphs, nested ones included.
std::vector<VertexId> members_of(const CompileState& state, const RegionSnapshot& region,
                                 const std::vector<std::vector<std::uint32_t>>& children) {
  std::vector<VertexId> members = region.members;
  std::vector<std::uint32_t> open = region.graphs;
  while (!open.empty()) {
    const std::uint32_t index = open.back();
    open.pop_back();
    const auto& inside = state.graph.instances[index].members;
    members.insert(members.end(), inside.begin(), inside.end());
    open.insert(open.end(), children[index].begin(), children[index].end());
  }
  std::ranges::sort(members);
  const auto rest = std::ranges::unique(members);
  members.erase(rest.begin(), rest.end());
  return members;
}

}  // namespace

void resolve_structure(CompileState& state) {
  const auto& instances = state.graph.instances;
  for (std::uint32_t index = 0; index < instances.size(); ++index) {
    record_instance(state, index);
    check_exported_inputs(state, instances[index]);
  }
  const auto children = children_of(instances);
  for (const RegionSnapshot& region : state.graph.regions) {
    RegionRecord added{.id = RegionId{static_cast<std::uint32_t>(state.plan.regions.size())},
                       .name = region.name,
                       .members = members_of(state, region, children),
                       .constraints = region.constraints,
                       .profile = region.profile};
    for (const std::uint32_t index : region.graphs) added.graphs.push_back(GraphInstanceId{index});
    if (added.members.empty()) {
      state.warning("REGION_EMPTY", "region " + region.name, "the region has no operator",
                    "add() operators to it, or do not name it");
    }
    state.plan.regions.push_back(std::move(added));
  }
}

}  // namespace weftline::passes
