// SPDX-License-Identifier: Apache-2.0
//
// Needs: regions, operators with their devices and partitions, edges.
// Adds: errors for regions whose constraints do not hold.

#include <algorithm>
#include <string>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

constexpr std::size_t kShown = 4;

/// "a, b and 3 more"
class ShortList {
 public:
  void add(const std::string& item) {
    if (++count_ <= kShown) text_.append(count_ == 1 ? "" : ", ").append(item);
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::string to_string() const {
    if (count_ <= kShown) return text_;
    return text_ + " and " + std::to_string(count_ - kShown) + " more";
  }

 private:
  std::size_t count_{0};
  std::string text_{};
};

std::string place_of(const RegionRecord& region) { return "region " + region.name; }

void check_host_only(CompileState& state, const RegionRecord& region) {
  ShortList on_device;
  for (const VertexId member : region.members) {
    const OperatorPlanRecord& op = state.op(member);
    if (op.device) on_device.add(op.path + " is on " + op.device->to_string());
  }
  if (on_device.empty()) return;
  state.error("REGION_NOT_HOST_ONLY", place_of(region),
              "the region is host-only, but " + on_device.to_string(),
              "keep their tensors in host memory, or take them out of the region");
}

void check_single_device(CompileState& state, const RegionRecord& region) {
  const OperatorPlanRecord* first = nullptr;
  ShortList elsewhere;
  for (const VertexId member : region.members) {
    const OperatorPlanRecord& op = state.op(member);
    if (!op.device) continue;
    if (first == nullptr) first = &op;
    if (op.device != first->device) elsewhere.add(op.path + " is on " + op.device->to_string());
  }
  if (elsewhere.empty()) return;
  state.error("REGION_DEVICE_CONFLICT", place_of(region),
              "the region has one device, " + first->path + " is on " +
                  first->device.value_or(DeviceId{}).to_string() + ", but " + elsewhere.to_string(),
              "bind their outputs to one device, or take them out of the region");
}

void check_single_partition(CompileState& state, const RegionRecord& region) {
  const auto name_of = [&](const OperatorPlanRecord& op) {
    return state.plan.execution_partitions[op.partition.value].name;
  };
  const OperatorPlanRecord* first = nullptr;
  ShortList elsewhere;
  for (const VertexId member : region.members) {
    const OperatorPlanRecord& op = state.op(member);
    if (first == nullptr) first = &op;
    if (op.partition != first->partition) elsewhere.add(op.path + " is in " + name_of(op));
  }
  if (elsewhere.empty()) return;
  state.error("REGION_PARTITION_CONFLICT", place_of(region),
              "the region has one partition, " + first->path + " is in " + name_of(*first) +
                  ", but " + elsewhere.to_string(),
              "add() them all to one authored partition, or take them out of the region");
}

void check_lossless(CompileState& state, const RegionRecord& region) {
  ShortList dropping;
  for (const VertexId member : region.members) {
    for (const std::uint32_t index : state.incoming[member.value]) {
      const PayloadEdgePlanRecord& edge = state.plan.payload_edges[index];
      if (edge.queue_policy == QueuePolicy::kDropOldest) dropping.add(state.edge_name(edge));
    }
  }
  if (dropping.empty()) return;
  state.error(
      "REGION_LOSSY_FLOW", place_of(region),
      "the region is lossless, but these queues drop their oldest sample: " + dropping.to_string(),
      "give these flows QueuePolicy::kBlocking, or take the operators out of the region");
}

}  // namespace

void check_regions(CompileState& state) {
  for (const RegionRecord& region : state.plan.regions) {
    for (const RegionConstraint constraint : region.constraints) {
      switch (constraint) {
        case RegionConstraint::kHostOnly:
          check_host_only(state, region);
          break;
        case RegionConstraint::kSingleDevice:
          check_single_device(state, region);
          break;
        case RegionConstraint::kSinglePartition:
          check_single_partition(state, region);
          break;
        case RegionConstraint::kLossless:
          check_lossless(state, region);
          break;
      }
    }
  }
}

}  // namespace weftline::passes
