// SPDX-License-Identifier: Apache-2.0
#include "run_stats.hpp"

#include <utility>

namespace motion_watch {

void RunStats::frame_arrived(Sink sink, std::uint64_t frame_id, std::int64_t latency_ns) {
  auto& arrivals = arrivals_[frame_id % kInFlight];
  if (arrivals.fetch_add(1, std::memory_order_acq_rel) + 1U < kSinks) return;
  arrivals.store(0, std::memory_order_release);
  latency_[static_cast<std::size_t>(sink)].record(latency_ns);
}

std::uint64_t RunStats::completed() const {
  std::uint64_t total = 0;
  for (const auto& histogram : latency_) total += histogram.count();
  return total;
}

void RunStats::latency(LatencyHistogram& into) const {
  for (const auto& histogram : latency_) into.merge(histogram);
}

void RunStats::source_failed(std::string why) {
  const std::lock_guard lock(mutex_);
  source_failure_ = std::move(why);
}

std::string RunStats::source_failure() const {
  const std::lock_guard lock(mutex_);
  return source_failure_;
}

}  // namespace motion_watch
