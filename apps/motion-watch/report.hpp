// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report_data.hpp"

namespace motion_watch {

/// The report as one HTML page that needs nothing else: styles, drawings and the contact sheet are
/// inside it, it refers to no other resource and runs no script. Follows the reader's preference
/// for light or dark.
std::string render_report(const ReportData& data);

}  // namespace motion_watch
