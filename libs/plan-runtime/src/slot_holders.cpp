// SPDX-License-Identifier: Apache-2.0
#include "slot_holders.hpp"

namespace weftline::runtime {
namespace {

SlotHolder holder_of(const PlanRecords& plan, const ArmNumbers& arms, const HeldSlot::Arm& arm) {
  const PayloadEdgePlanRecord& edge = plan.payload_edges[arms.edge_of(arm.arm)];
  return {.place = arm.taken ? SlotPlace::kConsumer : SlotPlace::kQueue,
          .name = arm.taken ? plan.operators[edge.target.vertex.value].path
                            : plan.output_name(edge.source) + " -> " + plan.input_name(edge.target),
          .since_ns = arm.since_ns};
}

}  // namespace

std::vector<SlotHolding> name_holders(const PlanRecords& plan, const ArmNumbers& arms,
                                      PortRef output, const std::vector<HeldSlot>& slots) {
  std::vector<SlotHolding> named;
  for (const HeldSlot& slot : slots) {
    SlotHolding holding{.slot = slot.slot, .handles = slot.handles};
    for (const HeldSlot::Arm& arm : slot.arms)
      holding.holders.push_back(holder_of(plan, arms, arm));
    const auto alone = [&](SlotPlace place) {
      holding.holders.insert(holding.holders.begin(),
                             {.place = place,
                              .name = plan.operators[output.vertex.value].path,
                              .since_ns = slot.loaned_ns});
    };
    switch (slot.state) {
      case HeldSlot::State::kLoaned:
        alone(SlotPlace::kProducer);
        break;
      case HeldSlot::State::kPublished:
        break;
      case HeldSlot::State::kRetiring:
        alone(SlotPlace::kDevice);
        break;
      case HeldSlot::State::kQuarantined:
        alone(SlotPlace::kNobody);
        break;
    }
    named.push_back(std::move(holding));
  }
  return named;
}

}  // namespace weftline::runtime
