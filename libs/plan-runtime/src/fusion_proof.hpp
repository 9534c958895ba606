// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/core/error.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// Whether the plan's own records bear out that all that touches the pool's slots is on its fused
/// stream: read again before a session arms, for a plan is data and may come from anywhere.
/// kIncompatible (RUN_FUSION_UNPROVEN) says what is against it.
[[nodiscard]] expected<void, Error> check_fusion_proof(const PlanRecords& plan,
                                                       const TensorAllocationPlanRecord& pool);

}  // namespace weftline::runtime
