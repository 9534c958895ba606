// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

inline constexpr std::string_view kPlanSchema = "weftline.execution-plan";
inline constexpr std::uint32_t kPlanSchemaVersion = 2;

/// The whole plan, diagnostics included, as canonical JSON with a schema marker. Unknown values are
/// null. Each record is on a line of its own, for diffs. Inspection only: there is no way back.
/// Equal records give equal bytes.
[[nodiscard]] std::string plan_json(const PlanRecords& records);
/// "sha256:…" over `plan_json()`, without holding that text.
[[nodiscard]] std::string plan_digest(const PlanRecords& records);

/// What a person reads: partitions with their operators, edges with depths, streams, pools with
/// bytes and why, endpoints, and the diagnostics. Fixed-width columns, no colour.
[[nodiscard]] std::string render_plan(const PlanRecords& records);

}  // namespace weftline
