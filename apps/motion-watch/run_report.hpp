// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report_data.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace motion_watch {

/// Fills in what a plan and its counters know: nodes, edges, pools, endpoints, diagnostics and the
/// plan's digest.
void describe_plan(const weftline::ExecutionPlan& plan, const weftline::RunCounters& counters,
                   ReportData& report);

/// The summary for the terminal: run, latency, edges, pools.
std::string summary_table(const ReportData& report);

}  // namespace motion_watch
