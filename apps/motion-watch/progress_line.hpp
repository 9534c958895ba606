// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "run_stats.hpp"
#include "weftline/runtime/run_counters.hpp"

namespace motion_watch {

/// One line on standard output that says how the run goes. On a terminal it overwrites itself; else
/// there is a new one every few seconds. One thread.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// Ends the line on a terminal, so that what follows starts at the left.
  ~ProgressLine();

  void update(const RunStats& stats, const weftline::RunCounters& counters);
  /// The last state of the line, with a line end.
  void finish(const RunStats& stats, const weftline::RunCounters& counters);

 private:
  void print(const RunStats& stats, const weftline::RunCounters& counters);
  void end_line();

  const bool terminal_;
  const std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_update_;
  bool open_{false};  ///< The cursor stands at the end of a line that was printed.
};

}  // namespace motion_watch
