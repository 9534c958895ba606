// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators' devices, partitions, the green contexts of devices.
// Adds: one compute stream for each partition and device on which the partition has an operator, or
// by the shared policy one for each device and, where its SMs are divided, green context; each such
// operator's stream; the partitions of green contexts. An error where work would have no SMs, a
// warning for SMs that no operator uses.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

/// What has one stream; the order is that of the ids.
struct StreamUsers {
  PartitionId partition{};  ///< Invalid: all partitions.
  DeviceId device{};
  GreenContextPlanId green_context{};
  friend constexpr auto operator<=>(const StreamUsers&, const StreamUsers&) noexcept = default;
};

/// Finds the green context of an operator's work.
class SmOwners {
 public:
  explicit SmOwners(CompileState& state) : state_(state) {
    for (const auto& pool : state.plan.green_context_pools) {
      residual_[pool.device];
      for (const GreenContextPlanId id : pool.resources) {
        const auto& resource = state.plan.green_context_resources[id.value];
        if (resource.role == GreenContextRole::kSharedServiceResidual) residual_[pool.device] = id;
      }
    }
  }

  /// Invalid on a device whose SMs are not divided.
  GreenContextPlanId of(const OperatorPlanRecord& op, DeviceId device) {
    const auto residual = residual_.find(device);
    if (residual == residual_.end()) return {};
    if (const auto authored = state_.graph.vertices[op.id.value].authored_partition) {
      const auto own = state_.green_contexts.find({*authored, device});
      if (own != state_.green_contexts.end()) {
        state_.plan.green_context_resources[own->second.value].partition = op.partition;
        used_.insert(own->second);
        return own->second;
      }
    }
    if (!residual->second.valid() && starved_.insert(device).second) {
      state_.error("GREEN_CONTEXT_NO_RESIDUAL", device.to_string(),
                   "operator " + op.path +
                       " works on the device, but all SMs that can be set apart are bound to "
                       "partitions that it is not in",
                   "leave SMs unbound, or bind some to the operator's partition");
    }
    return residual->second;
  }

  void report_unused() {
    for (const auto& bound : state_.green_contexts) {
      if (used_.contains(bound.second)) continue;
      auto& resource = state_.plan.green_context_resources[bound.second.value];
      const auto partition =
          std::ranges::find(state_.plan.execution_partitions, resource.partition_name,
                            &ExecutionPartitionRecord::name);
      if (partition != state_.plan.execution_partitions.end()) resource.partition = partition->id;
      state_.warning("GREEN_CONTEXT_UNUSED", "partition " + resource.partition_name,
                     std::to_string(resource.sm_count) + " SMs of " + resource.device.to_string() +
                         " are bound, but none of the partition's operators is on that device",
                     "take the binding out");
    }
  }

 private:
  CompileState& state_;
  std::map<DeviceId, GreenContextPlanId> residual_{};  ///< Of divided devices; invalid: none.
  std::set<GreenContextPlanId> used_{};
  std::set<DeviceId> starved_{};
};

}  // namespace

void assign_streams(CompileState& state) {
  PlanRecords& plan = state.plan;
  plan.cuda_compute_stream_policy = state.options.cuda_execution.compute_stream_policy;
  const bool shared =
      plan.cuda_compute_stream_policy == CudaComputeStreamPolicy::kSharedProcessDevice;
  SmOwners sms(state);
  std::map<StreamUsers, std::vector<VertexId>> streams;
  for (const OperatorPlanRecord& op : plan.operators) {
    if (!op.device) continue;
    const PartitionId partition = shared ? PartitionId{} : op.partition;
    streams[{partition, *op.device, sms.of(op, *op.device)}].push_back(op.id);
  }
  sms.report_unused();
  for (const auto& stream : streams) {
    const StreamPlanId id{static_cast<std::uint32_t>(plan.cuda_compute_streams.size())};
    const StreamUsers& users = stream.first;
    plan.cuda_compute_streams.push_back({id, users.partition, users.device, users.green_context});
    for (const VertexId user : stream.second) state.op(user).stream = id;
  }
}

}  // namespace weftline::passes
