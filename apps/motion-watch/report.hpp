// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "report_data.hpp"

namespace motion_watch {

/// The report as one HTML page that needs nothing else: styles, drawings and the contact sheet are
/// inside it, it refers to no other resource and runs no script. Follows the reader's preference
/// for light or dark.
std::string render_report(const ReportData& data);

/// Writes the page, wholly or not at all. Blocks. The error is one line.
tl::expected<void, std::string> write_report(const std::filesystem::path& path,
                                             const ReportData& data);

}  // namespace motion_watch
