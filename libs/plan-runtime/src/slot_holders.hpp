// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "arm_numbers.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/runtime/run_counters.hpp"
#include "weftline/tensor/holder_notes.hpp"

namespace weftline::runtime {

/// What a pool knows of its slots, in the words of the plan: operators and edges for arms.
[[nodiscard]] std::vector<SlotHolding> name_holders(const PlanRecords& plan, const ArmNumbers& arms,
                                                    PortRef output,
                                                    const std::vector<HeldSlot>& slots);

}  // namespace weftline::runtime
