// SPDX-License-Identifier: Apache-2.0
//
// Needs: the graph as it was authored.
// Adds: the graph in canonical order (operators by path, partitions and clocks by name, topics by
// URI, which gets one scheme), so that the order of authoring calls leaves no trace in a plan; from
// it the clocks, the operators with their ports, and the edges by source and target; which outputs
// are exported, which imports feed which input; the order of the flow.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>

#include "flow_order.hpp"
#include "passes/passes.hpp"
#include "structure_order.hpp"
#include "topics.hpp"

namespace weftline::passes {
namespace {

/// Sorts `items` by `key` and tells, by old index, where each went.
template <class T, class Key>
std::vector<std::uint32_t> sort_in_place(std::vector<T>& items, Key key) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return key(items[a], a) < key(items[b], b); });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  std::vector<std::uint32_t> moved_to(items.size());
  for (const std::uint32_t old_index : order) {
    moved_to[old_index] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(std::move(items[old_index]));
  }
  items = std::move(sorted);
  return moved_to;
}

void sort_clocks(GraphSnapshot& graph) {
  const auto is_default = [&](std::uint32_t index) { return graph.default_clock == index; };
  const auto moved_to =
      sort_in_place(graph.clocks, [&](const ClockSnapshot& clock, std::uint32_t index) {
        return std::tuple(clock.name, !is_default(index), clock.independent_progress,
                          clock.external_driver_admitted);
      });
  if (graph.default_clock) graph.default_clock = moved_to[*graph.default_clock];
}

void sort_vertices(GraphSnapshot& graph) {
  const auto partition_at =
      sort_in_place(graph.partitions, [](const std::string& name, std::uint32_t) { return name; });
  for (VertexSnapshot& vertex : graph.vertices) {
    if (vertex.authored_partition) {
      vertex.authored_partition = partition_at[*vertex.authored_partition];
    }
  }
  if (graph.include_all) graph.include_all = partition_at[*graph.include_all];
  const auto vertex_at = sort_in_place(
      graph.vertices, [](const VertexSnapshot& vertex, std::uint32_t) { return vertex.path; });
  const auto move = [&](PortRef& port) { port.vertex.value = vertex_at[port.vertex.value]; };
  for (FlowSnapshot& flow : graph.flows) {
    move(flow.source);
    move(flow.target);
  }
  for (ExportSnapshot& topic : graph.exports) std::ranges::for_each(topic.sources, move);
  for (ImportSnapshot& topic : graph.imports) std::ranges::for_each(topic.targets, move);
  order_structure(graph, vertex_at);
}

void sort_flows(GraphSnapshot& graph) {
  std::ranges::sort(graph.flows, {},
                    [](const FlowSnapshot& flow) { return std::pair(flow.source, flow.target); });
  for (ExportSnapshot& topic : graph.exports) {
    topic.uri = canonical_uri(std::move(topic.uri));
    std::ranges::sort(topic.sources);
  }
  for (ImportSnapshot& topic : graph.imports) {
    topic.uri = canonical_uri(std::move(topic.uri));
    std::ranges::sort(topic.targets);
  }
  sort_in_place(graph.exports, [](const ExportSnapshot& topic, std::uint32_t) {
    return std::tuple(topic.uri, topic_order(topic.options), topic.sources);
  });
  sort_in_place(graph.imports, [](const ImportSnapshot& topic, std::uint32_t) {
    return std::tuple(topic.uri, topic_order(topic.options), topic.targets);
  });
}

void record_imports(CompileState& state) {
  for (std::uint32_t index = 0; index < state.graph.imports.size(); ++index) {
    for (const PortRef target : state.graph.imports[index].targets) {
      state.imports_into[target].push_back(index);
    }
  }
}

void record_clocks(const GraphSnapshot& graph, PlanRecords& plan) {
  for (std::uint32_t index = 0; index < graph.clocks.size(); ++index) {
    const ClockSnapshot& clock = graph.clocks[index];
    plan.clocks.push_back({.id = ClockId{index},
                           .name = clock.name,
                           .is_default = graph.default_clock == index,
                           .independent_progress = clock.independent_progress,
                           .external_driver_admitted = clock.external_driver_admitted});
  }
}

void record_operators(GraphSnapshot& graph, PlanRecords& plan) {
  for (std::uint32_t index = 0; index < graph.vertices.size(); ++index) {
    VertexSnapshot& vertex = graph.vertices[index];
    plan.operators.push_back({.id = VertexId{index},
                              .path = vertex.path,
                              .type_id = vertex.type_id,
                              .type_version = vertex.type_version,
                              .inputs = std::move(vertex.inputs),
                              .outputs = std::move(vertex.outputs)});
  }
}

void record_edges(const GraphSnapshot& graph, PlanRecords& plan) {
  for (std::uint32_t index = 0; index < graph.flows.size(); ++index) {
    const FlowSnapshot& flow = graph.flows[index];
    const auto depth = flow.options.queue_depth;
    plan.payload_edges.push_back(
        {.edge = EdgeId{index},
         .source = flow.source,
         .target = flow.target,
         .queue_policy = flow.options.queue_policy,
         .queue_depth = depth.value_or(0),
         .depth_origin = depth ? QueueDepthOrigin::kExplicit : QueueDepthOrigin::kDefault,
         .topic_name = flow.topic_name});
  }
}

void find_exported(CompileState& state) {
  for (std::uint32_t topic = 0; topic < state.graph.exports.size(); ++topic) {
    for (const PortRef source : state.graph.exports[topic].sources) {
      state.exported.emplace_back(source, topic);
    }
  }
  std::ranges::sort(state.exported);
}

void order_flow(CompileState& state) {
  const std::size_t count = state.plan.operators.size();
  state.incoming.resize(count);
  state.outgoing.resize(count);
  Successors successors(count);
  for (std::uint32_t index = 0; index < state.plan.payload_edges.size(); ++index) {
    const PayloadEdgePlanRecord& edge = state.plan.payload_edges[index];
    state.outgoing[edge.source.vertex.value].push_back(index);
    state.incoming[edge.target.vertex.value].push_back(index);
    successors[edge.source.vertex.value].push_back(edge.target.vertex.value);
  }
  for (const std::uint32_t vertex : topological_order(successors)) {
    state.topological_order.push_back(VertexId{vertex});
  }
}

}  // namespace

void snapshot(CompileState& state) {
  sort_clocks(state.graph);
  sort_vertices(state.graph);
  sort_flows(state.graph);

  state.plan.graph_name = state.graph.name;
  state.plan.device_catalog = state.options.devices;
  record_clocks(state.graph, state.plan);
  record_operators(state.graph, state.plan);
  record_edges(state.graph, state.plan);
  find_exported(state);
  record_imports(state);
  order_flow(state);
}

}  // namespace weftline::passes
