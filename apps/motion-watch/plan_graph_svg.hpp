// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report_data.hpp"

namespace motion_watch {

/// The plan as an inline SVG drawing from left to right: operators in layers, coloured by their
/// partition, endpoints as pills, edges with "high water / depth" on them, a legend below. Edges
/// whose nodes are unknown are left out. Uses the CSS variables of the report's page.
std::string plan_graph_svg(const ReportData& data);

}  // namespace motion_watch
