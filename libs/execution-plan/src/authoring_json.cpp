// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {

static JsonText json(const ExportedPortRecord& port) {
  return Object{{"name", text(port.name)}, {"ports", list(port.ports)}};
}

static JsonText json(RegionConstraint constraint) { return region_constraint_name(constraint); }

template <class Tag>
static JsonText ids(const std::vector<Id<Tag>>& values) {
  JsonArrayText items;
  for (const Id<Tag> id : values) items.push_back(json(id));
  return items;
}

JsonText json(const GraphInstancePlanRecord& instance) {
  return Object{{"id", json(instance.id)},           {"inputs", list(instance.inputs)},
                {"members", ids(instance.members)},  {"outputs", list(instance.outputs)},
                {"parent", json(instance.parent)},   {"path", text(instance.path)},
                {"type_id", text(instance.type_id)}, {"type_version", instance.type_version}};
}

JsonText json(const RegionRecord& region) {
  return Object{{"constraints", list(region.constraints)},
                {"graphs", ids(region.graphs)},
                {"id", json(region.id)},
                {"members", ids(region.members)},
                {"name", text(region.name)},
                {"profile", region.profile ? JsonText(profile_name(*region.profile)) : JsonText()}};
}

JsonText json(const PortConfigurationRecord& configuration) {
  const auto& replaced = configuration.replaced;
  return Object{
      {"fact", port_fact_name(configuration.fact)},          {"is_output", configuration.is_output},
      {"layer", port_layer_name(configuration.layer)},       {"port", json(configuration.port)},
      {"replaced", replaced ? text(*replaced) : JsonText()}, {"value", text(configuration.value)}};
}

JsonText json(const PartitioningPlanRecord& partitioning) {
  return Object{{"algorithm", text(partitioning.algorithm)},
                {"algorithm_version", partitioning.algorithm_version},
                {"authored_partition_count", partitioning.authored_partition_count},
                {"mode", partitioning_mode_name(partitioning.mode)}};
}

JsonText json(const ScheduleEdgeRecord& edge) {
  return Object{{"destination", json(edge.destination)},
                {"edge", json(edge.edge)},
                {"source", json(edge.source)}};
}

}  // namespace weftline
