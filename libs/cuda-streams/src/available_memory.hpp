// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace weftline::cuda_streams {

/// The bytes of host memory that this process can still touch without being killed for it: the
/// smallest of what the kernel can make available (MemAvailable) and what each memory cgroup of the
/// process (version 2 or 1, its parents included) leaves of its limit. File cache that the kernel
/// can drop counts as free. What can't be read limits nothing. `root` is where /proc and /sys are.
///
/// A group's file cache is slow to read, and is left out where the group has `enough` without it:
/// the answer is exact below `enough`, and from there on may be too low, but not below `enough`.
[[nodiscard]] std::uint64_t available_host_memory(
    std::uint64_t enough = std::numeric_limits<std::uint64_t>::max(),
    const std::filesystem::path& root = "/");

}  // namespace weftline::cuda_streams
