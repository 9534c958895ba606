// SPDX-License-Identifier: Apache-2.0
#include "available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace weftline::cuda_streams {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The file names of one version of the memory controller.
struct Controller {
  std::string_view mount;
  std::string_view limit;
  std::string_view usage;
  std::string_view cache;  // in memory.stat: what the kernel drops before it kills
};
constexpr Controller kVersion2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "};
constexpr Controller kVersion1{"sys/fs/cgroup/memory", "memory.limit_in_bytes",
                               "memory.usage_in_bytes", "total_inactive_file "};

/// The number that follows `key` in the first line that begins with it.
std::optional<std::uint64_t> read_number(const fs::path& file, std::string_view key = "") {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(key)) {
      line.erase(0, std::min(line.find_first_not_of(' ', key.size()), line.size()));
      try {
        return std::stoull(line);
      } catch (const std::exception&) {
        return std::nullopt;  // "max"
      }
    }
  }
  return std::nullopt;
}

std::uint64_t left_in_group(const Controller& controller, const fs::path& group,
                            std::uint64_t enough) {
  const auto limit = read_number(group / controller.limit);
  if (!limit) {
    return kUnlimited;
  }
  const auto usage = read_number(group / controller.usage);
  if (!usage) {
    return kUnlimited;
  }
  const std::uint64_t left = *limit - std::min(*usage, *limit);
  if (left >= enough) {
    return left;
  }
  const std::uint64_t cache = read_number(group / "memory.stat", controller.cache).value_or(0);
  const std::uint64_t used = *usage - std::min(cache, *usage);
  return *limit - std::min(used, *limit);
}

/// `path` is as /proc/self/cgroup says it. In a container it may be the host's view, of which only
/// some parent, or nothing but the mount itself, is there.
std::uint64_t left_in_groups(const fs::path& root, const Controller& controller,
                             std::string_view path, std::uint64_t enough) {
  std::uint64_t left = kUnlimited;
  fs::path group = fs::path(path).relative_path();
  while (!group.empty()) {
    left = std::min(left, left_in_group(controller, root / controller.mount / group, enough));
    group = group.parent_path();
  }
  return std::min(left, left_in_group(controller, root / controller.mount, enough));
}

}  // namespace

std::uint64_t available_host_memory(std::uint64_t enough, const fs::path& root) {
  std::uint64_t available = kUnlimited;
  if (const auto kibibytes = read_number(root / "proc/meminfo", "MemAvailable:")) {
    available = *kibibytes * 1024;
  }
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" is version 2, "4:memory:/path" (or "4:cpu,memory:/path") version 1.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      continue;
    }
    line[first] = line[second] = ',';
    const auto controllers = std::string_view(line).substr(first, second - first + 1);
    const auto path = std::string_view(line).substr(second + 1);
    if (controllers == ",,") {
      available = std::min(available, left_in_groups(root, kVersion2, path, enough));
    } else if (controllers.find(",memory,") != std::string_view::npos) {
      available = std::min(available, left_in_groups(root, kVersion1, path, enough));
    }
  }
  return available;
}

}  // namespace weftline::cuda_streams
