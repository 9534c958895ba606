// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "weftline/core/memory_kind.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

// What holds of every accepted plan, checked by other means than the passes use.

inline void check_ids(const PlanRecords& plan) {
  for (std::size_t i = 0; i < plan.operators.size(); ++i) {
    CHECK(plan.operators[i].id.value == i);
    if (i > 0) CHECK(plan.operators[i - 1].path < plan.operators[i].path);
    CHECK(plan.partition_decisions[i].vertex.value == i);
    CHECK_FALSE(plan.partition_decisions[i].reason.empty());
  }
  for (std::size_t i = 0; i < plan.payload_edges.size(); ++i) {
    const auto& edge = plan.payload_edges[i];
    CHECK(edge.edge.value == i);
    CHECK(edge.queue_depth > 0);
    if (i == 0) continue;
    const auto& before = plan.payload_edges[i - 1];
    CHECK(std::pair(before.source, before.target) < std::pair(edge.source, edge.target));
  }
}

inline void check_partitions(const PlanRecords& plan) {
  std::map<VertexId, std::pair<PartitionId, std::size_t>> places;
  for (std::size_t i = 0; i < plan.execution_partitions.size(); ++i) {
    const auto& partition = plan.execution_partitions[i];
    CHECK(partition.id.value == i);
    CHECK_FALSE(partition.members.empty());
    for (std::size_t k = 0; k < partition.members.size(); ++k) {
      CHECK(places.try_emplace(partition.members[k], partition.id, k).second);
    }
  }
  CHECK(places.size() == plan.operators.size());
  std::map<VertexId, int> fan_in;
  std::map<VertexId, int> fan_out;
  for (const auto& edge : plan.payload_edges) {
    ++fan_out[edge.source.vertex];
    ++fan_in[edge.target.vertex];
    const auto [from, from_index] = places.at(edge.source.vertex);
    const auto [to, to_index] = places.at(edge.target.vertex);
    CHECK(edge.crosses_partitions == (from != to));
    if (from == to) CHECK(from_index < to_index);
  }
  for (const auto& partition : plan.execution_partitions) {
    if (partition.origin != ExecutionPartitionOrigin::kAutomatic) continue;
    CHECK(partition.name == "auto:" + plan.operators[partition.members.front().value].path);
    for (std::size_t k = 1; k < partition.members.size(); ++k) {
      CHECK(fan_in[partition.members[k]] == 1);
      CHECK(fan_out[partition.members[k - 1]] == 1);
    }
  }
  for (const auto& op : plan.operators) CHECK(op.partition == places.at(op.id).first);
}

/// Whose SMs an operator's stream has: its partition's own, else the device's shared rest, if the
/// device is divided at all.
inline GreenContextPlanId sms_by_hand(const PlanRecords& plan, const OperatorPlanRecord& op) {
  GreenContextPlanId found;
  for (const auto& resource : plan.green_context_resources) {
    if (resource.device != op.device) continue;
    const bool own = resource.role == GreenContextRole::kDedicatedPartition &&
                     resource.partition == op.partition;
    if (own) return resource.id;
    if (resource.role == GreenContextRole::kSharedServiceResidual) found = resource.id;
  }
  return found;
}

inline void check_streams(const PlanRecords& plan) {
  std::set<std::tuple<PartitionId, DeviceId, GreenContextPlanId>> used;
  for (const auto& op : plan.operators) {
    CHECK(op.stream.valid() == op.device.has_value());
    if (!op.device) continue;
    const auto& stream = plan.cuda_compute_streams.at(op.stream.value);
    CHECK(stream.device == *op.device);
    const bool shared =
        plan.cuda_compute_stream_policy == CudaComputeStreamPolicy::kSharedProcessDevice;
    CHECK(stream.partition == (shared ? PartitionId{} : op.partition));
    CHECK(stream.green_context == sms_by_hand(plan, op));
    used.insert({stream.partition, *op.device, stream.green_context});
  }
  CHECK(used.size() == plan.cuda_compute_streams.size());
}

inline void check_green_contexts(const PlanRecords& plan) {
  std::size_t shared_out = 0;
  for (const auto& pool : plan.green_context_pools) {
    const DeviceDescription& device = *plan.device_catalog.find(pool.device);
    CHECK(pool.total_sm_count == device.sm_count);
    std::uint32_t sum = 0;
    std::set<PartitionId> owners;
    for (const GreenContextPlanId id : pool.resources) {
      const auto& resource = plan.green_context_resources.at(id.value);
      CHECK(resource.id == id);
      CHECK(resource.device == pool.device);
      CHECK(resource.sm_count > 0);
      sum += resource.sm_count;
      ++shared_out;
      if (resource.role == GreenContextRole::kReservedResidual) {
        CHECK(resource.sm_count < pool.quantum_sms);
        continue;
      }
      CHECK(resource.sm_count % pool.quantum_sms == 0);
      if (resource.role != GreenContextRole::kDedicatedPartition) continue;
      CHECK(owners.insert(resource.partition).second);
      const auto& partition = plan.execution_partitions.at(resource.partition.value);
      CHECK(partition.name == resource.partition_name);
    }
    CHECK(sum == device.sm_count);
  }
  CHECK(shared_out == plan.green_context_resources.size());
}

/// Who can ever touch the slots of an output, and by which streams: by following the tensors.
inline void check_fusion(const PlanRecords& plan) {
  std::set<EdgeId> decided;
  for (const auto& decision : plan.fusion_decisions) {
    CHECK(decided.insert(decision.edge).second);
    CHECK_FALSE(decision.reason.empty());
  }
  for (const auto& pool : plan.tensor_allocations) {
    std::set<VertexId> touching{pool.output.vertex};
    std::set<PortRef> seen;
    std::size_t deliveries = 0;
    bool leaves = false;
    const std::function<void(PortRef)> follow = [&](PortRef output) {
      if (!seen.insert(output).second) return;
      for (const auto& edge : plan.export_edges) leaves = leaves || edge.source == output;
      for (const auto& edge : plan.payload_edges) {
        if (edge.source != output) continue;
        ++deliveries;
        touching.insert(edge.target.vertex);
        const auto& reader = plan.operators[edge.target.vertex.value];
        for (std::uint32_t port = 0; port < reader.outputs.size(); ++port) {
          const auto& next = reader.outputs[port];
          const bool own = next.tensor && next.tensor->storage == TensorOutputStorage::kRuntimePool;
          if (next.payload.kind == PayloadIdentityKind::kTensor && !own) follow({reader.id, port});
        }
      }
    };
    follow(pool.output);
    std::set<StreamPlanId> streams;
    for (const VertexId vertex : touching) streams.insert(plan.operators[vertex.value].stream);
    if (pool.fused_stream.valid()) {
      CHECK(deliveries == 1);
      CHECK_FALSE(leaves);
      CHECK(streams == std::set{pool.fused_stream});
      CHECK(is_device_resident(pool.memory_kind));
    }
    for (const auto& edge : plan.payload_edges) {
      if (edge.source != pool.output) continue;
      CHECK(decided.contains(edge.edge) == is_device_resident(pool.memory_kind));
      const auto decision =
          std::ranges::find(plan.fusion_decisions, edge.edge, &FusionDecisionRecord::edge);
      if (decision == plan.fusion_decisions.end()) continue;
      CHECK(decision->fused == pool.fused_stream.valid());
    }
  }
}

/// What a consumer holds outside the queue of an edge.
inline std::uint32_t held_beside(const PlanRecords& plan, const PayloadEdgePlanRecord& edge) {
  const EdgeSelectionRecord& selection = plan.edge_selections[edge.edge.value];
  const TemporalTriggerPlanRecord& trigger = plan.operators[edge.target.vertex.value].trigger;
  const bool triggers = std::ranges::find(trigger.inputs, edge.target.port) != trigger.inputs.end();
  std::uint32_t held = 0;
  if (triggers && trigger.kind == TemporalRecordTriggerKind::kWindow) {
    held += trigger.max_pending_windows;
  }
  if (!triggers && selection.selector == InputSelectorKind::kLatestWithin) ++held;
  if (selection.cardinality == SelectionCardinality::kBatch) held += selection.max_selected_samples;
  if (selection.selector == InputSelectorKind::kBracketedWindow) ++held;
  if (selection.missing == MissingDataKind::kReuseLast) held += selection.max_selected_samples;
  return held;
}

/// The slot count again, by recursion over the flow.
inline std::uint32_t slots_by_hand(const PlanRecords& plan,
                                   const TensorAllocationPlanRecord& pool) {
  std::set<PortRef> seen;
  std::uint32_t reading_arms = 0;
  const std::function<std::uint32_t(PortRef)> behind = [&](PortRef output) -> std::uint32_t {
    if (!seen.insert(output).second) return 0;
    std::uint32_t lossless = 0;
    std::uint32_t newest = 0;
    std::uint32_t keepers = 0;
    std::uint32_t further = 0;
    for (const auto& edge : plan.export_edges) {
      if (edge.source != output) continue;
      const EndpointRecord& topic = plan.endpoint_catalog.endpoints()[edge.endpoint.value];
      newest = std::max(newest, topic.queue_depth);
      keepers += topic.max_subscribers * topic.max_borrowed_samples;
    }
    for (const auto& edge : plan.payload_edges) {
      if (edge.source != output) continue;
      if (edge.queue_policy == QueuePolicy::kBlocking) {
        lossless = std::max(lossless, edge.queue_depth + 1);
      } else {
        newest = std::max(newest, edge.queue_depth);
        ++keepers;
      }
      const auto& consumer = plan.operators[edge.target.vertex.value];
      further += held_beside(plan, edge);
      if (consumer.stream.valid()) {
        reading_arms += plan.edge_selections[edge.edge.value].max_selected_samples;
      }
      for (std::uint32_t port = 0; port < consumer.outputs.size(); ++port) {
        const auto& next = consumer.outputs[port];
        const bool own = next.tensor && next.tensor->storage == TensorOutputStorage::kRuntimePool;
        if (next.payload.kind != PayloadIdentityKind::kTensor || own) continue;
        further += behind({consumer.id, port});
      }
    }
    return std::max(lossless, newest) + keepers + further;
  };
  const std::uint32_t held = behind(pool.output);
  return 1 + held + (pool.memory_kind == MemoryKind::kHost ? 0 : 2 * reading_arms);
}

inline void check_pools(const PlanRecords& plan) {
  std::size_t pooled = 0;
  for (const auto& op : plan.operators) {
    pooled += static_cast<std::size_t>(std::ranges::count_if(op.outputs, [](const auto& output) {
      return output.tensor && output.tensor->storage == TensorOutputStorage::kRuntimePool;
    }));
  }
  CHECK(plan.tensor_allocations.size() == pooled);
  for (const auto& pool : plan.tensor_allocations) {
    INFO(plan.output_name(pool.output));
    CHECK(pool.slot_count == slots_by_hand(plan, pool));
    CHECK(pool.device.has_value() == (pool.memory_kind != MemoryKind::kHost));
    std::uint64_t contributed = 0;
    for (const auto& each : pool.contributors) contributed += each.maximum_distinct_slots;
    CHECK(contributed >= pool.slot_count);
  }
}

/// What an import's inputs can hold, by recursion over the flow.
inline std::uint32_t held_by_hand(const PlanRecords& plan, const std::string& endpoint) {
  std::set<PortRef> seen;
  const std::function<std::uint32_t(VertexId)> behind = [&](VertexId vertex) -> std::uint32_t {
    std::uint32_t held = 0;
    const auto& op = plan.operators[vertex.value];
    for (std::uint32_t port = 0; port < op.outputs.size(); ++port) {
      if (op.outputs[port].payload.kind != PayloadIdentityKind::kTensor) continue;
      const auto& spec = op.outputs[port].tensor;
      if (spec && spec->storage == TensorOutputStorage::kRuntimePool) continue;
      if (!seen.insert({vertex, port}).second) continue;
      for (const auto& edge : plan.payload_edges) {
        if (edge.source != PortRef{vertex, port}) continue;
        held += edge.queue_depth + 1 + behind(edge.target.vertex);
      }
    }
    return held;
  };
  std::uint32_t held = 0;
  for (const auto& edge : plan.import_edges) {
    if (edge.endpoint_name != endpoint) continue;
    const auto& input = plan.operators[edge.target.vertex.value].inputs[edge.target.port];
    if (input.payload.kind != PayloadIdentityKind::kTensor) continue;
    held += 1 + input.retained_samples + behind(edge.target.vertex);
  }
  return held;
}

inline void check_boundary(const PlanRecords& plan) {
  CHECK(plan.external_topics.size() == plan.endpoint_catalog.endpoints().size());
  for (const auto& edge : plan.import_edges) {
    const EndpointRecord& endpoint = plan.endpoint_catalog.endpoints()[edge.endpoint.value];
    CHECK(endpoint.name == edge.endpoint_name);
    CHECK(edge.queue_depth == endpoint.queue_depth);
    CHECK(edge.held_samples == held_by_hand(plan, edge.endpoint_name));
    CHECK(edge.held_samples <= edge.max_borrowed_samples);
    const auto& consumer = plan.operators[edge.target.vertex.value];
    if (edge.device) {
      CHECK(consumer.device == edge.device);
      CHECK(consumer.stream.valid());
    }
    const auto& lane = plan.execution_partitions[consumer.partition.value];
    CHECK(lane.members.front() == consumer.id);
  }
  for (const auto& edge : plan.export_edges) {
    const auto& tensor = plan.endpoint_catalog.endpoints()[edge.endpoint.value].tensor;
    if (tensor && tensor->memory_kind != MemoryKind::kHost) {
      CHECK(plan.operators[edge.source.vertex.value].stream.valid());
    }
  }
}

inline void check_plan(const PlanRecords& plan) {
  check_ids(plan);
  check_partitions(plan);
  check_streams(plan);
  check_green_contexts(plan);
  check_fusion(plan);
  check_pools(plan);
  check_boundary(plan);
}

}  // namespace weftline
