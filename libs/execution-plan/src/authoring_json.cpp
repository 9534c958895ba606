// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"

namespace weftline {

static JsonValue json(const ExportedPortRecord& port) {
  return Object{{"name", text(port.name)}, {"ports", list(port.ports)}};
}

static JsonValue json(RegionConstraint constraint) { return region_constraint_name(constraint); }

template <class Tag>
static JsonValue ids(const std::vector<Id<Tag>>& values) {
  JsonValue::Array items;
  items.reserve(values.size());
  for (const Id<Tag> id : values) items.push_back(json(id));
  return items;
}

JsonValue json(const GraphInstancePlanRecord& instance) {
  return Object{{"id", json(instance.id)},           {"inputs", list(instance.inputs)},
                {"members", ids(instance.members)},  {"outputs", list(instance.outputs)},
                {"parent", json(instance.parent)},   {"path", text(instance.path)},
                {"type_id", text(instance.type_id)}, {"type_version", instance.type_version}};
}

JsonValue json(const RegionRecord& region) {
  return Object{{"constraints", list(region.constraints)},
                {"graphs", ids(region.graphs)},
                {"id", json(region.id)},
                {"members", ids(region.members)},
                {"name", text(region.name)}};
}

JsonValue json(const PortConfigurationRecord& configuration) {
  const auto& replaced = configuration.replaced;
  return Object{{"fact", port_fact_name(configuration.fact)},
                {"is_output", configuration.is_output},
                {"layer", port_layer_name(configuration.layer)},
                {"port", json(configuration.port)},
                {"replaced", replaced ? text(*replaced) : JsonValue()},
                {"value", text(configuration.value)}};
}

JsonValue json(const PartitioningPlanRecord& partitioning) {
  return Object{{"algorithm", text(partitioning.algorithm)},
                {"algorithm_version", partitioning.algorithm_version},
                {"authored_partition_count", partitioning.authored_partition_count},
                {"mode", partitioning_mode_name(partitioning.mode)}};
}

JsonValue json(const ScheduleEdgeRecord& edge) {
  return Object{{"destination", json(edge.destination)},
                {"edge", json(edge.edge)},
                {"source", json(edge.source)}};
}

}  // namespace weftline
