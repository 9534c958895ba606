// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace motion_watch {

/// The command line of motion-watch.
struct JobArguments {
  std::filesystem::path input{};  ///< Empty: the synthetic scene.
  std::string device{"host"};
  bool realtime{false};
  std::uint64_t frames{0};  ///< 0: all.
  std::filesystem::path out{"motion-watch-out"};
  std::chrono::milliseconds attach_wait{0};
  bool observe{false};  ///< Also print counters with latencies, and write trace.json.
};

/// Why the program should end now.
struct ParseEnd {
  std::string text{};
  int exit_code{0};  ///< 0 for --help: the text is for standard output.
};

/// Without --input: the sample video where Debian's package or ci/fetch_sample has put it, else the
/// synthetic scene.
tl::expected<JobArguments, ParseEnd> parse_arguments(int argc, const char* const* argv);

}  // namespace motion_watch
