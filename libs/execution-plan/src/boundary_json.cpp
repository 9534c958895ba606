// SPDX-License-Identifier: Apache-2.0
#include "json_parts.hpp"
#include "placement_names.hpp"

namespace weftline {

JsonText json(const ExternalTopicRecord& topic) {
  return Object{{"declaration", topic.declaration},
                {"device", optional(topic.device)},
                {"direction", topic_direction_name(topic.direction)},
                {"endpoint", json(topic.endpoint)},
                {"endpoint_name", text(topic.endpoint_name)},
                {"generation_capacity", topic.generation_capacity},
                {"locality", locality_name(topic.locality)},
                {"memory_conversion", memory_conversion_name(topic.memory_conversion)},
                {"name_origin", endpoint_name_origin_name(topic.name_origin)},
                {"payload", json(topic.payload)},
                {"service_id", text(topic.service_id)},
                {"uri", text(topic.uri)}};
}

JsonText json(const ImportEdgePlanRecord& edge) {
  return Object{{"device", optional(edge.device)},
                {"endpoint", json(edge.endpoint)},
                {"endpoint_name", text(edge.endpoint_name)},
                {"held_samples", edge.held_samples},
                {"max_borrowed_samples", known(edge.max_borrowed_samples)},
                {"queue_depth", known(edge.queue_depth)},
                {"queue_policy", queue_policy_name(edge.queue_policy)},
                {"selection", json(edge.selection)},
                {"target", json(edge.target)}};
}

JsonText json(const TensorOutputPlacementRecord& placement) {
  return Object{{"device", json(placement.device)},
                {"origin", output_placement_name(placement.origin)},
                {"output", json(placement.output)}};
}

JsonText json(const GreenContextSupport& support) {
  return Object{{"coscheduled_alignment_sms", support.coscheduled_alignment_sms},
                {"minimum_partition_sms", support.minimum_partition_sms}};
}

JsonText json(const GreenContextResourcePlanRecord& resource) {
  const bool dedicated = resource.role == GreenContextRole::kDedicatedPartition;
  return Object{{"device", json(resource.device)},
                {"id", json(resource.id)},
                {"partition", json(resource.partition)},
                {"partition_name", dedicated ? text(resource.partition_name) : JsonText()},
                {"role", green_context_role_name(resource.role)},
                {"sm_count", resource.sm_count},
                {"source", green_context_source_name(resource.source)}};
}

JsonText json(const GreenContextPoolPlanRecord& pool) {
  JsonArrayText resources;
  for (const GreenContextPlanId id : pool.resources) resources.push_back(json(id));
  return Object{{"device", json(pool.device)},
                {"quantum_sms", pool.quantum_sms},
                {"resources", std::move(resources)},
                {"total_sm_count", pool.total_sm_count}};
}

static JsonText json(const CpuAffinity& affinity) { return affinity.to_string(); }

JsonText json(const PartitionPlacementPlanRecord& placement) {
  const ThreadPlacement& requested = placement.requested;
  return Object{
      {"partition", json(placement.partition)},
      {"partition_name", text(placement.partition_name)},
      {"requested",
       Object{{"affinity", optional(requested.affinity)},
              {"irq_isolation", irq_isolation_name(requested.irq_isolation)},
              {"probe_failure_policy", probe_failure_policy_name(requested.probe_failure_policy)},
              {"scheduling_policy", scheduling_policy_name(requested.scheduling.policy)},
              {"scheduling_priority", std::int64_t{requested.scheduling.priority}},
              {"wake_mode", wake_mode_name(requested.wake_mode)}}}};
}

JsonText json(const SupportThreadPlacementPlanRecord& placement) {
  return Object{{"affinity", json(placement.affinity)},
                {"probe_failure_policy", probe_failure_policy_name(placement.probe_failure_policy)},
                {"role", support_thread_role_name(placement.role)}};
}

JsonText json(const ProfileManifest& manifest) {
  return Object{{"effective", profile_name(manifest.effective)},
                {"plan_schema_version", known(manifest.plan_schema_version)},
                {"policy_id", manifest.policy_id},
                {"requested", profile_name(manifest.requested)}};
}

}  // namespace weftline
