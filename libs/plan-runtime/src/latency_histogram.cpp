// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/latency_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace weftline {

std::int64_t LatencyHistogram::lowest_in(std::size_t index) noexcept {
  if (index < 2 * kSubBuckets) return static_cast<std::int64_t>(index);
  const std::size_t shift = index / kSubBuckets - 1;
  return static_cast<std::int64_t>(index % kSubBuckets + kSubBuckets) << shift;
}

std::int64_t LatencyHistogram::highest_in(std::size_t index) noexcept {
  return index + 1 < kBuckets ? lowest_in(index + 1) - 1 : INT64_MAX;
}

void LatencyHistogram::merge(const LatencyHistogram& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    add(counts_[i], other.counts_[i].load(std::memory_order_relaxed));
  }
  add(total_, other.total_ns());
  const std::int64_t low = other.min_.load(std::memory_order_relaxed);
  const std::int64_t high = other.max_.load(std::memory_order_relaxed);
  min_.store(std::min(min_.load(std::memory_order_relaxed), low), std::memory_order_relaxed);
  max_.store(std::max(max_.load(std::memory_order_relaxed), high), std::memory_order_relaxed);
}

std::uint64_t LatencyHistogram::count() const noexcept {
  std::uint64_t total = 0;
  for (const auto& counter : counts_) total += counter.load(std::memory_order_relaxed);
  return total;
}

std::int64_t LatencyHistogram::min_ns() const noexcept {
  const std::int64_t value = min_.load(std::memory_order_relaxed);
  return value == INT64_MAX ? 0 : value;
}

std::int64_t LatencyHistogram::percentile_ns(double percent) const noexcept {
  return value_at(percent, count());
}

std::int64_t LatencyHistogram::value_at(double percent, std::uint64_t total) const noexcept {
  if (total == 0) return 0;
  const double wanted =
      std::ceil(std::clamp(percent, 0.0, 100.0) / 100.0 * static_cast<double>(total));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, total);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i].load(std::memory_order_relaxed);
    if (seen >= rank) return std::min(highest_in(i), max_ns());
  }
  return max_ns();
}

LatencySummary LatencyHistogram::summary() const noexcept {
  const std::uint64_t total = count();
  return {.count = total,
          .min_ns = min_ns(),
          .p50_ns = value_at(50, total),
          .p90_ns = value_at(90, total),
          .p99_ns = value_at(99, total),
          .p999_ns = value_at(99.9, total),
          .max_ns = max_ns(),
          .total_ns = total_ns()};
}

std::vector<LatencyHistogram::Bucket> LatencyHistogram::buckets() const {
  constexpr std::size_t kGroup = kSubBuckets / 4;
  std::vector<Bucket> result;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < kBuckets; i += kGroup) {
    std::uint64_t samples = 0;
    for (std::size_t j = i; j < i + kGroup; ++j) {
      samples += counts_[j].load(std::memory_order_relaxed);
    }
    if (samples == 0 && result.empty()) continue;
    result.push_back({lowest_in(i), highest_in(i + kGroup - 1), samples});
    if (samples > 0) kept = result.size();
  }
  result.resize(kept);
  return result;
}

}  // namespace weftline
