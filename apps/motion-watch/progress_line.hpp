// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "run_stats.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace motion_watch {

/// One line on standard output that says how the run goes. On a terminal it overwrites itself; else
/// nothing is printed until the end. One thread.
class ProgressLine {
 public:
  ProgressLine();
  void update(const RunStats& stats, const weftline::RunCounters& counters);
  /// The last state of the line, with a line end.
  void finish(const RunStats& stats, const weftline::RunCounters& counters);

 private:
  void print(const RunStats& stats, const weftline::RunCounters& counters) const;
  const bool terminal_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace motion_watch
