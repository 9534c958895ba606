// SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace motion_watch {

ProgressLine::ProgressLine()
    : terminal_(isatty(STDOUT_FILENO) == 1), start_(std::chrono::steady_clock::now()) {}

void ProgressLine::print(const RunStats& stats, const weftline::RunCounters& counters) const {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  LatencyHistogram latency;
  stats.latency(latency);
  unsigned in_use = 0;
  unsigned slots = 0;
  for (const auto& pool : counters.pools) {
    in_use += pool.usage.in_use - std::min(pool.usage.in_use, pool.usage.retiring);
    slots += pool.usage.slot_count;
  }
  std::printf(
      "%6llu frames  %7.1f fps  latency p50 %.2f ms p99 %.2f ms  %llu dropped  %u of %u slots in "
      "use ",
      static_cast<unsigned long long>(stats.completed()),
      seconds > 0 ? static_cast<double>(stats.completed()) / seconds : 0.0,
      static_cast<double>(latency.percentile_ns(50)) / 1e6,
      static_cast<double>(latency.percentile_ns(99)) / 1e6,
      static_cast<unsigned long long>(stats.dropped()), in_use, slots);
}

void ProgressLine::update(const RunStats& stats, const weftline::RunCounters& counters) {
  if (!terminal_) return;
  std::printf("\r");
  print(stats, counters);
  std::fflush(stdout);
}

void ProgressLine::finish(const RunStats& stats, const weftline::RunCounters& counters) {
  if (terminal_) std::printf("\r");
  print(stats, counters);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace motion_watch
