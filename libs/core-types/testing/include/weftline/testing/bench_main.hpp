// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weftline::testing {

/// One line of the table of ci/bench.
struct BenchRow {
  std::string name{};  ///< Starts with the library or program.
  std::string unit{};
  double value{0};
  /// The least (or most) that is possible, measured in the same run.
  std::optional<double> floor{};
  /// Of value to floor, in words.
  std::optional<std::string> target{};
  std::string note{};
};

[[nodiscard]] double median(std::vector<double> values);

/// The main() of a benchmark: reads `--weftline-json FILE [--quick]`, measures, and writes the rows
/// to the file, or to stdout. An exception ends it with its text on stderr and status 1.
int bench_main(int argc, char** argv,
               const std::function<std::vector<BenchRow>(bool quick)>& measure);

}  // namespace weftline::testing
