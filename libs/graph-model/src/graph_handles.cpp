// SPDX-License-Identifier: Apache-2.0
#include "graph_state.hpp"

namespace weftline {

std::shared_ptr<AuthoredVertex> OperatorRef::lock() const {
  auto vertex = vertex_.lock();
  if (!vertex) {
    refuse("GRAPH_HANDLE_STALE",
           "this operator handle outlived its graph; keep the graph while you author");
  }
  return vertex;
}

std::string OperatorRef::path() const {
  const auto vertex = lock();
  return vertex->owner->path_of(vertex->name);
}

std::shared_ptr<Graph> EmbeddedGraphRef::lock() const {
  auto graph = graph_.lock();
  if (!graph) {
    refuse("GRAPH_HANDLE_STALE",
           "this handle of an embedded graph outlived the graph around it; keep that while you "
           "author");
  }
  return graph;
}

FlowHandle& FlowHandle::queue_policy(QueuePolicy policy) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  graph->flows[index_].options.queue_policy = policy;
  return *this;
}

FlowHandle& FlowHandle::queue_depth(std::uint32_t depth) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  if (depth == 0) {
    refuse("GRAPH_QUEUE_DEPTH_ZERO",
           graph->path(graph->flows[index_].source) +
               ": a queue of depth 0 can carry nothing; do not give a depth to let the compiler "
               "choose");
  }
  graph->flows[index_].options.queue_depth = depth;
  return *this;
}

FlowHandle& FlowHandle::topic_name(std::string alias) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  require_name("a flow's", alias);
  AuthoredFlow& flow = graph->flows[index_];
  const auto [named, added] = graph->topic_names.try_emplace(alias, flow.source);
  if (!added && named->second != flow.source) {
    refuse("GRAPH_TOPIC_NAME_CONFLICT", "flows of " + graph->path(named->second) + " and of " +
                                            graph->path(flow.source) + " are both called \"" +
                                            alias + "\"; give each its own name");
  }
  flow.topic_name = std::move(alias);
  return *this;
}

PartitionHandle& PartitionHandle::add(const OperatorRef& member) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  auto& assigned = graph->partition_of[graph->own(member)];
  if (assigned && *assigned != index_) {
    refuse("GRAPH_PARTITION_CONFLICT", "operator " + member.path() + " is in partition \"" +
                                           graph->partitions[*assigned] + "\" already, not in \"" +
                                           graph->partitions[index_] +
                                           "\"; an operator has one lane");
  }
  assigned = index_;
  return *this;
}

PartitionHandle& PartitionHandle::add(const EmbeddedGraphRef& member) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  AuthoredInstance& instance = graph->instances[graph->own(member)];
  const GraphState& inner = GraphState::of(*instance.graph);
  if (inner.has_partitions) {
    refuse("GRAPH_PARTITION_CONFLICT", "graph " + inner.name +
                                           " has partitions of its own, so it can't be in "
                                           "partition \"" +
                                           graph->partitions[index_] + "\" as a whole");
  }
  if (instance.partition && *instance.partition != index_) {
    refuse("GRAPH_PARTITION_CONFLICT", "graph " + inner.name + " is in partition \"" +
                                           graph->partitions[*instance.partition] +
                                           "\" already, not in \"" + graph->partitions[index_] +
                                           "\"; an operator has one lane");
  }
  instance.partition = index_;
  return *this;
}

PartitionHandle& PartitionHandle::include_all() {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  graph->require_outermost("a partition that includes all");
  if (const auto& other = graph->include_all; other && *other != index_) {
    refuse("GRAPH_PARTITION_CONFLICT", "partition \"" + graph->partitions[*other] +
                                           "\" includes all already, so \"" +
                                           graph->partitions[index_] + "\" can't");
  }
  graph->include_all = index_;
  return *this;
}

RegionHandle& RegionHandle::add(const OperatorRef& member) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  graph->regions[index_].vertices.push_back(graph->own(member));
  return *this;
}

RegionHandle& RegionHandle::add(const EmbeddedGraphRef& member) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  graph->regions[index_].instances.push_back(graph->own(member));
  return *this;
}

RegionHandle& RegionHandle::constrain(RegionConstraint constraint) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  if (constraint > RegionConstraint::kLossless) {
    refuse("REGION_CONSTRAINT_INVALID", "region " + graph->regions[index_].name +
                                            ": constraint number " +
                                            std::to_string(static_cast<unsigned>(constraint)) +
                                            " is none; use an enumerator of RegionConstraint");
  }
  graph->regions[index_].constraints.push_back(constraint);
  return *this;
}

RegionHandle& RegionHandle::profile(Profile profile) {
  const auto graph = GraphState::lock(graph_);
  graph->require_open();
  AuthoredRegion& region = graph->regions[index_];
  if (profile > Profile::kStrict) {
    refuse("REGION_PROFILE_INVALID", "region " + region.name + ": profile number " +
                                         std::to_string(static_cast<unsigned>(profile)) +
                                         " is none; use an enumerator of Profile");
  }
  if (region.profile && *region.profile != profile) {
    refuse("REGION_PROFILE_CONFLICT", "region " + region.name + " has the profile " +
                                          std::string(profile_name(*region.profile)) +
                                          " already, not " + std::string(profile_name(profile)) +
                                          "; say it once");
  }
  region.profile = profile;
  return *this;
}

}  // namespace weftline
