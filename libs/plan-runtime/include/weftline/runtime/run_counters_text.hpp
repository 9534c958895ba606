// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weftline/plan/plan_records.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace weftline {

inline constexpr std::string_view kRunCountersSchema = "weftline.run-counters";
inline constexpr std::uint32_t kRunCountersVersion = 1;

// Both want the counters of a run of `plan`.

/// Tables for a terminal: operators, edges, pools with who has their slots, lanes, exports, imports
/// and paths; parts that the plan does not have are left out. The wording may change.
[[nodiscard]] std::string render_run_counters(const PlanRecords& plan, const RunCounters& counters);

/// Canonical JSON on one line, names instead of ids; a latency that nobody kept is null.
[[nodiscard]] std::string run_counters_json(const PlanRecords& plan, const RunCounters& counters);

}  // namespace weftline
