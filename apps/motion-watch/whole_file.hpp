// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace motion_watch {

struct WholeFile {
  std::filesystem::path path{};
  std::string_view bytes{};
};

/// Makes each path a file with its bytes, all of them or none: they go to temporary files beside
/// the paths, which take their names once the last one is complete. Older files of those names stay
/// as they are until then. Only a file system that fails between two renames can leave a part.
/// Blocks. The error is one line: the path, the system's reason and what to do.
tl::expected<void, std::string> write_whole_files(std::span<const WholeFile> files);

/// The same for one file.
tl::expected<void, std::string> write_whole_file(const std::filesystem::path& path,
                                                 std::string_view bytes);

}  // namespace motion_watch
