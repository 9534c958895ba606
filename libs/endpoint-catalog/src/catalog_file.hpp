// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "weftline/core/error.hpp"

namespace weftline {

/// Token of the refusal of what is there but no regular file.
inline constexpr std::string_view kFileKindToken = "CATALOG_FILE_KIND";

/// Reads a regular file of at most `max_bytes`. kNotFound when there is none at `path`.
[[nodiscard]] expected<std::string, Error> read_file(const std::filesystem::path& path,
                                                     std::size_t max_bytes);

/// Puts `bytes` at `path` so that readers see the old content or the new one: a temporary file in
/// the same folder is written, brought to the disk, read back, compared and renamed. It has the
/// mode of the file that it replaces, else 0666 less the umask. The temporary file is gone after a
/// failure.
[[nodiscard]] expected<void, Error> replace_file(const std::filesystem::path& path,
                                                 std::string_view bytes);

}  // namespace weftline
