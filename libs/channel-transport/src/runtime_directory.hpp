// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "unique_fd.hpp"
#include "weftline/core/error.hpp"

namespace weftline::channel {

/// The folder of discovery records, opened once: later operations go through `fd`, so that nobody
/// can put another folder in its place.
struct RuntimeDirectory {
  std::filesystem::path path{};
  UniqueFd fd{};
};

/// Opens the folder, and creates it (mode 0700, one level) where it is missing. Empty: from the
/// environment, as `ChannelRuntimeOptions` says. CHANNEL_DIRECTORY_UNSAFE: another owner, open to
/// others, or a symbolic link.
[[nodiscard]] expected<RuntimeDirectory, Error> open_runtime_directory(std::filesystem::path path);

}  // namespace weftline::channel
