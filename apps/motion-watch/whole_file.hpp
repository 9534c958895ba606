// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace motion_watch {

/// Makes `path` a file with these bytes, all of them or not at all: they go to a temporary file
/// beside it, which then takes its name. An older file of that name stays as it is until then.
/// Blocks. The error is one line: the path, the system's reason and what to do.
tl::expected<void, std::string> write_whole_file(const std::filesystem::path& path,
                                                 std::string_view bytes);

}  // namespace motion_watch
