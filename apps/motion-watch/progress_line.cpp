// SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace motion_watch {
namespace {

constexpr const char* kClearRestOfLine = "\033[K";
constexpr std::chrono::seconds kPlainPeriod{5};

}  // namespace

ProgressLine::ProgressLine()
    : terminal_(isatty(STDOUT_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_update_(start_) {}

ProgressLine::~ProgressLine() { end_line(); }

void ProgressLine::end_line() {
  if (!open_) return;
  std::printf("\n");
  std::fflush(stdout);
  open_ = false;
}

void ProgressLine::print(const RunStats& stats, const weftline::RunCounters& counters) {
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
      "%s%6llu frames  %7.1f fps  latency p50 %.2f ms p99 %.2f ms  %llu dropped  %u of %u slots in "
      "use%s",
      terminal_ ? "\r" : "", static_cast<unsigned long long>(stats.completed()),
      seconds > 0 ? static_cast<double>(stats.completed()) / seconds : 0.0,
      static_cast<double>(latency.percentile_ns(50)) / 1e6,
      static_cast<double>(latency.percentile_ns(99)) / 1e6,
      static_cast<unsigned long long>(stats.dropped()), in_use, slots,
      terminal_ ? kClearRestOfLine : "\n");
  std::fflush(stdout);
  open_ = terminal_;
}

void ProgressLine::update(const RunStats& stats, const weftline::RunCounters& counters) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ && now - last_update_ < kPlainPeriod) return;
  last_update_ = now;
  print(stats, counters);
}

void ProgressLine::finish(const RunStats& stats, const weftline::RunCounters& counters) {
  print(stats, counters);
  end_line();
}

}  // namespace motion_watch
