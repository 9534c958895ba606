// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace weftline::cuda_streams {

/// The bytes of host memory that this process can still touch without being killed for it: the
/// smallest of what the kernel can make available (MemAvailable) and what each memory cgroup of the
/// process (version 2 or 1, its parents included) leaves of its limit. File cache that the kernel
/// can drop counts as free. What can't be read limits nothing. `root` is where /proc and /sys are.
[[nodiscard]] std::uint64_t available_host_memory(const std::filesystem::path& root = "/");

}  // namespace weftline::cuda_streams
