// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators' devices, partitions.
// Adds: one compute stream for each partition and device on which the partition has an operator;
// each such operator's stream.

#include <set>

#include "passes/passes.hpp"

namespace weftline::passes {

void assign_streams(CompileState& state) {
  auto& streams = state.plan.cuda_compute_streams;
  for (const ExecutionPartitionRecord& partition : state.plan.execution_partitions) {
    std::set<DeviceId> devices;
    for (const VertexId member : partition.members) {
      if (const auto device = state.op(member).device) devices.insert(*device);
    }
    for (const DeviceId device : devices) {
      const StreamPlanId id{static_cast<std::uint32_t>(streams.size())};
      streams.push_back({id, partition.id, device});
      for (const VertexId member : partition.members) {
        if (state.op(member).device == device) state.op(member).stream = id;
      }
    }
  }
}

}  // namespace weftline::passes
