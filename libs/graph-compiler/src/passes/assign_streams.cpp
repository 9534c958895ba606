// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators' devices, partitions.
// Adds: one compute stream for each partition and device on which the partition has an operator, or
// by the shared policy one for each device; each such operator's stream.

#include <map>
#include <vector>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

/// What has one stream; the order is that of the ids.
struct StreamUsers {
  PartitionId partition{};  ///< Invalid: all partitions.
  DeviceId device{};
  friend constexpr auto operator<=>(const StreamUsers&, const StreamUsers&) noexcept = default;
};

}  // namespace

void assign_streams(CompileState& state) {
  PlanRecords& plan = state.plan;
  plan.cuda_compute_stream_policy = state.options.cuda_execution.compute_stream_policy;
  const bool shared =
      plan.cuda_compute_stream_policy == CudaComputeStreamPolicy::kSharedProcessDevice;
  std::map<StreamUsers, std::vector<VertexId>> streams;
  for (const OperatorPlanRecord& op : plan.operators) {
    if (!op.device) continue;
    const PartitionId partition = shared ? PartitionId{} : op.partition;
    streams[{partition, *op.device}].push_back(op.id);
  }
  for (const auto& stream : streams) {
    const StreamPlanId id{static_cast<std::uint32_t>(plan.cuda_compute_streams.size())};
    plan.cuda_compute_streams.push_back({id, stream.first.partition, stream.first.device});
    for (const VertexId user : stream.second) state.op(user).stream = id;
  }
}

}  // namespace weftline::passes
