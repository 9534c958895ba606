// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report_data.hpp"

namespace motion_watch {

/// The latency histogram as an inline SVG drawing: a bar per bucket on a logarithmic axis, with
/// lines at p50 and p99. Empty text if there are no samples. Uses the CSS variables of the
/// report's page.
std::string latency_svg(const ReportLatency& latency);

}  // namespace motion_watch
