// SPDX-License-Identifier: Apache-2.0
#include "fusion_proof.hpp"

#include <algorithm>
#include <string>

namespace weftline::runtime {

expected<void, Error> check_fusion_proof(const PlanRecords& plan,
                                         const TensorAllocationPlanRecord& pool) {
  const auto unproven = [&](const std::string& why) {
    return fail(ErrorCode::kIncompatible, "RUN_FUSION_UNPROVEN",
                "the plan leaves out the fences of " + plan.output_name(pool.output) +
                    " on stream " + std::to_string(pool.fused_stream.value) + ", but " + why +
                    "; run a plan as compile() made it");
  };
  const OperatorPlanRecord& writer = plan.operators[pool.output.vertex.value];
  if (pool.fused_stream.value >= plan.cuda_compute_streams.size()) {
    return unproven("there is no such stream");
  }
  if (!is_device_resident(pool.memory_kind)) return unproven("the pool is not in device memory");
  if (writer.stream != pool.fused_stream) return unproven(writer.path + " is not on it");
  const bool exported = std::ranges::any_of(
      plan.export_edges, [&](const auto& edge) { return edge.source == pool.output; });
  if (exported) return unproven("the output is exported");
  std::size_t readers = 0;
  for (const PayloadEdgePlanRecord& edge : plan.payload_edges) {
    if (edge.source != pool.output) continue;
    ++readers;
    const OperatorPlanRecord& reader = plan.operators[edge.target.vertex.value];
    if (reader.stream != pool.fused_stream) return unproven(reader.path + " is not on it");
    for (const OutputPortRecord& output : reader.outputs) {
      const bool pooled =
          output.tensor && output.tensor->storage == TensorOutputStorage::kRuntimePool;
      if (output.payload.kind == PayloadIdentityKind::kTensor && !pooled) {
        return unproven(reader.path + " may hand the tensor on by " + output.name);
      }
    }
  }
  if (readers != 1) return unproven("it has " + std::to_string(readers) + " successors");
  return {};
}

}  // namespace weftline::runtime
