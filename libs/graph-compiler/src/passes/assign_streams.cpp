// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators' devices, partitions.
// Adds: one compute stream for each partition and device on which the partition has an operator, or
// by the shared policy one for each device; each such operator's stream.

#include <map>
#include <utility>

#include "passes/passes.hpp"

namespace weftline::passes {

void assign_streams(CompileState& state) {
  PlanRecords& plan = state.plan;
  plan.cuda_compute_stream_policy = state.options.cuda_execution.compute_stream_policy;
  const bool shared =
      plan.cuda_compute_stream_policy == CudaComputeStreamPolicy::kSharedProcessDevice;
  const auto sharers = [&](const OperatorPlanRecord& op) {
    return std::pair(shared ? PartitionId{} : op.partition, *op.device);
  };
  // By partition and device, which is the order of the ids.
  std::map<std::pair<PartitionId, DeviceId>, StreamPlanId> streams;
  for (const OperatorPlanRecord& op : plan.operators) {
    if (op.device) streams.try_emplace(sharers(op));
  }
  for (auto& [key, id] : streams) {
    id = StreamPlanId{static_cast<std::uint32_t>(plan.cuda_compute_streams.size())};
    plan.cuda_compute_streams.push_back({id, key.first, key.second});
  }
  for (OperatorPlanRecord& op : plan.operators) {
    if (op.device) op.stream = streams.at(sharers(op));
  }
}

}  // namespace weftline::passes
