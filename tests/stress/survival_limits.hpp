// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace weftline::stress {

/// How long one random run may take before it counts as hanging.
inline constexpr std::chrono::seconds kWatchdog{100};

inline std::uint64_t number_of_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Of /proc/self/task or /proc/self/fd: threads or descriptors that are there.
inline std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

}  // namespace weftline::stress
