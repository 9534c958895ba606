// SPDX-License-Identifier: Apache-2.0
#include "graph_snapshot.hpp"

namespace weftline {

FlatGraphs::FlatGraphs(const GraphState& outermost) {
  places_.push_back({.graph = &outermost});
  std::uint32_t vertices = 0;
  std::uint32_t partitions = 0;
  // By index: the list grows while it is walked.
  for (std::size_t next = 0; next < places_.size(); ++next) {
    const GraphState& graph = *places_[next].graph;
    places_[next].first_vertex = vertices;
    places_[next].first_partition = partitions;
    index_.emplace(&graph, next);
    vertices += static_cast<std::uint32_t>(graph.vertices.size());
    partitions += static_cast<std::uint32_t>(graph.partitions.size());
    for (const AuthoredInstance& instance : graph.instances) {
      Place inner{.graph = &GraphState::of(*instance.graph),
                  .instance = static_cast<std::uint32_t>(places_.size() - 1),
                  .parent_instance = places_[next].instance,
                  .type_id = instance.type_id,
                  .type_version = instance.type_version,
                  .partition = places_[next].partition};
      inner.prefix = places_[next].prefix + inner.graph->name + "/";
      if (instance.partition) inner.partition = places_[next].first_partition + *instance.partition;
      places_.push_back(std::move(inner));
    }
  }
}

const FlatGraphs::Place& FlatGraphs::of(const GraphState* graph) const {
  return places_[index_.at(graph)];
}

VertexId FlatGraphs::vertex(AuthoredOperator op) const {
  return VertexId{of(op.graph).first_vertex + op.vertex};
}

PortRef FlatGraphs::port(AuthoredPort port) const {
  return {VertexId{of(port.graph).first_vertex + port.vertex}, port.port};
}

void FlatGraphs::add_flows(GraphSnapshot& snapshot, const Place& place) const {
  for (const AuthoredFlow& flow : place.graph->flows) {
    for (const AuthoredPort& target : flow.targets) {
      snapshot.flows.push_back(
          {port(flow.source), port(target), flow.options,
           flow.topic_name.empty() ? std::string() : place.prefix + flow.topic_name});
    }
  }
  for (const AuthoredTopic& topic : place.graph->exports) {
    ExportSnapshot exported{topic.uri, topic.options, topic.payload, {}};
    for (const AuthoredPort& source : topic.ports) exported.sources.push_back(port(source));
    snapshot.exports.push_back(std::move(exported));
  }
  for (const AuthoredTopic& topic : place.graph->imports) {
    ImportSnapshot imported{topic.uri, topic.options, topic.payload, {}};
    for (const AuthoredPort& target : topic.ports) imported.targets.push_back(port(target));
    snapshot.imports.push_back(std::move(imported));
  }
}

void FlatGraphs::add_instance(GraphSnapshot& snapshot, const Place& place) const {
  if (!place.instance) return;
  GraphInstanceSnapshot instance;
  instance.path = place.prefix.substr(0, place.prefix.size() - 1);
  instance.parent = place.parent_instance;
  instance.type_id = place.type_id;
  instance.type_version = place.type_version;
  for (std::uint32_t vertex = 0; vertex < place.graph->vertices.size(); ++vertex) {
    instance.members.push_back(VertexId{place.first_vertex + vertex});
  }
  for (const AuthoredExport& exported : place.graph->exported) {
    ExportedPortSnapshot alias{.name = exported.name, .connected = exported.connected};
    for (const AuthoredPort& each : exported.ports) alias.ports.push_back(port(each));
    (exported.is_output ? instance.outputs : instance.inputs).push_back(std::move(alias));
  }
  snapshot.instances.push_back(std::move(instance));
}

void FlatGraphs::add_scopes(GraphSnapshot& snapshot, const Place& place) const {
  for (const std::string& name : place.graph->partitions) {
    snapshot.partitions.push_back(place.prefix + name);
  }
  for (const AuthoredRegion& authored : place.graph->regions) {
    RegionSnapshot region{.name = place.prefix + authored.name,
                          .constraints = authored.constraints,
                          .profile = authored.profile};
    for (const std::uint32_t vertex : authored.vertices) {
      region.members.push_back(VertexId{place.first_vertex + vertex});
    }
    for (const std::uint32_t index : authored.instances) {
      // The list has graph instances in this order, too.
      const Place& inner = of(&GraphState::of(*place.graph->instances[index].graph));
      region.graphs.push_back(inner.instance.value_or(0));
    }
    snapshot.regions.push_back(std::move(region));
  }
}

void FlatGraphs::add_overrides(GraphSnapshot& snapshot, const Place& place) const {
  for (const auto& entry : place.graph->overrides) {
    PortOverrideSnapshot override_of = entry.second;
    override_of.port = {VertexId{place.first_vertex + entry.first.vertex}, entry.first.port};
    snapshot.port_overrides.push_back(std::move(override_of));
  }
}

void FlatGraphs::add_lifecycle(GraphSnapshot& snapshot, const Place& place) const {
  for (const auto& [before, after] : place.graph->order) {
    snapshot.lifecycle_order.push_back({.before = vertex(before), .after = vertex(after)});
  }
  for (const AuthoredGrant& grant : place.graph->grants) {
    RestartGrantSnapshot granted{.target = vertex(grant.target), .from_stage = grant.from_stage};
    if (grant.requester) granted.requester = vertex(*grant.requester);
    snapshot.restart_grants.push_back(granted);
  }
}

void FlatGraphs::add_structure(GraphSnapshot& snapshot) const {
  const GraphState& outermost = *places_.front().graph;
  snapshot.name = outermost.name;
  snapshot.clocks = outermost.clocks;
  snapshot.default_clock = outermost.default_clock;
  snapshot.include_all = outermost.include_all;
  snapshot.exact_partitions = outermost.exact_partitions;
  for (const Place& place : places_) {
    add_flows(snapshot, place);
    add_instance(snapshot, place);
    add_scopes(snapshot, place);
    add_overrides(snapshot, place);
    add_lifecycle(snapshot, place);
  }
}

}  // namespace weftline
