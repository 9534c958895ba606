// SPDX-License-Identifier: Apache-2.0
#include "structure_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace weftline {
namespace {

void order_instances(GraphSnapshot& graph) {
  auto& instances = graph.instances;
  std::vector<std::uint32_t> order(instances.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {},
                    [&](std::uint32_t index) { return std::tie(instances[index].path); });
  std::vector<std::uint32_t> instance_at(instances.size());
  std::vector<GraphInstanceSnapshot> sorted;
  sorted.reserve(instances.size());
  for (const std::uint32_t index : order) {
    instance_at[index] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(instances[index]));
  }
  instances = std::move(sorted);
  for (GraphInstanceSnapshot& instance : instances) {
    if (instance.parent) instance.parent = instance_at[*instance.parent];
  }
  for (RegionSnapshot& region : graph.regions) {
    for (std::uint32_t& index : region.graphs) index = instance_at[index];
  }
}

template <class T>
void sort_once_each(std::vector<T>& items) {
  std::ranges::sort(items);
  const auto rest = std::ranges::unique(items);
  items.erase(rest.begin(), rest.end());
}

}  // namespace

void order_structure(GraphSnapshot& graph, const std::vector<std::uint32_t>& vertex_at) {
  const auto move = [&](VertexId& vertex) { vertex.value = vertex_at[vertex.value]; };
  order_instances(graph);
  for (GraphInstanceSnapshot& instance : graph.instances) {
    std::ranges::for_each(instance.members, move);
    std::ranges::sort(instance.members);
    for (auto* ports : {&instance.inputs, &instance.outputs}) {
      for (ExportedPortSnapshot& exported : *ports) {
        for (PortRef& port : exported.ports) move(port.vertex);
        std::ranges::sort(exported.ports);
      }
      std::ranges::sort(*ports, {}, &ExportedPortSnapshot::name);
    }
  }
  for (RegionSnapshot& region : graph.regions) {
    std::ranges::for_each(region.members, move);
    sort_once_each(region.members);
    sort_once_each(region.graphs);
    sort_once_each(region.constraints);
  }
  std::ranges::sort(graph.regions, {}, &RegionSnapshot::name);
  for (PortOverrideSnapshot& each : graph.port_overrides) move(each.port.vertex);
  std::ranges::sort(graph.port_overrides, {}, [](const PortOverrideSnapshot& each) {
    return std::tuple(each.port.vertex, each.is_output, each.port.port);
  });
  for (LifecycleOrderRecord& order : graph.lifecycle_order) {
    move(order.before);
    move(order.after);
  }
  sort_once_each(graph.lifecycle_order);
  for (RestartGrantSnapshot& grant : graph.restart_grants) {
    if (grant.requester) move(*grant.requester);
    move(grant.target);
  }
  std::ranges::sort(graph.restart_grants, {}, [](const RestartGrantSnapshot& grant) {
    return std::tuple(grant.target, grant.requester.value_or(VertexId{}), grant.from_stage);
  });
}

std::vector<std::vector<std::uint32_t>> children_of(
    const std::vector<GraphInstanceSnapshot>& instances) {
  std::vector<std::vector<std::uint32_t>> children(instances.size());
  for (std::uint32_t index = 0; index < instances.size(); ++index) {
    if (const auto parent = instances[index].parent) children[*parent].push_back(index);
  }
  return children;
}

}  // namespace weftline
