// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "weftline/core/error.hpp"

namespace weftline {

// Small files that others read while we write them: catalogs, plans. All calls block; messages name
// the path and the system's reason.

/// Reads a regular file of at most `max_bytes`. kNotFound when there is none at `path`; FILE_KIND
/// for what is no regular file, FILE_TOO_LARGE, FILE_OPEN, FILE_READ.
[[nodiscard]] expected<std::string, Error> read_file(const std::filesystem::path& path,
                                                     std::size_t max_bytes);

/// Makes `path` hold `bytes`, and writes only when they differ. Returns true when it wrote. Readers
/// see the old content or the new one: a temporary file in the same folder is written, brought to
/// the disk, read back, compared and renamed. A new file's mode is 0666 less the umask, one that is
/// replaced keeps its mode. After a failure (FILE_KIND, FILE_WRITE, FILE_VERIFY) the old or the new
/// file is there, whole (the new one if only its folder could not be brought to the disk), and the
/// temporary file is gone.
[[nodiscard]] expected<bool, Error> save_file(const std::filesystem::path& path,
                                              std::string_view bytes);

}  // namespace weftline
