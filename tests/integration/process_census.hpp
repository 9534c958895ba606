// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "weftline/testing/allocation_count.hpp"

namespace test {

/// What a process holds, as the system sees it: the names of its threads, what its descriptors
/// refer to, and the files that it maps. Mappings without a file are left out: stacks and heaps are
/// kept for reuse by the C library.
struct Census {
  std::vector<std::string> held{};

  [[nodiscard]] static Census take() {
    Census census;
    namespace fs = std::filesystem;
    for (const auto& task : fs::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm"), name);
      census.held.push_back("thread " + name);
    }
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      std::error_code gone;  // the descriptor that lists them
      const fs::path target = fs::read_symlink(entry.path(), gone);
      if (!gone) census.held.push_back("descriptor " + target.string());
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      const std::size_t path = line.find('/');
      if (path != std::string::npos) census.held.push_back("mapping " + line.substr(path));
    }
    std::ranges::sort(census.held);
    return census;
  }
  /// What is here and not in `before`, a line each.
  [[nodiscard]] std::string beyond(const Census& before) const {
    std::vector<std::string> more;
    std::ranges::set_difference(held, before.held, std::back_inserter(more));
    std::string text;
    for (const std::string& line : more) text += line + "\n";
    return text;
  }
};

/// What stays of `act` beyond what was there before, C++ allocations included; empty when nothing
/// does. A thread that has been joined may be listed a little longer, so that the look is repeated
/// for a while. `act` must not touch what outlives it.
template <class Act>
std::string left_behind(Act act) {
  const Census before = Census::take();
  const std::int64_t allocations_before = weftline::testing::live_allocations().load();
  act();
  const std::int64_t allocations = weftline::testing::live_allocations().load();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string left = Census::take().beyond(before);
  while (!left.empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
    left = Census::take().beyond(before);
  }
  if (allocations > allocations_before) {
    left += std::to_string(allocations - allocations_before) + " allocations\n";
  }
  return left;
}

}  // namespace test
