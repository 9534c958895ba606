// SPDX-License-Identifier: Apache-2.0
#include "latency_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace motion_watch {
namespace {

// One writer, so no read-modify-write is needed.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

void lower_to(std::atomic<std::int64_t>& value, std::int64_t candidate) {
  if (candidate < value.load(std::memory_order_relaxed)) {
    value.store(candidate, std::memory_order_relaxed);
  }
}

void raise_to(std::atomic<std::int64_t>& value, std::int64_t candidate) {
  if (candidate > value.load(std::memory_order_relaxed)) {
    value.store(candidate, std::memory_order_relaxed);
  }
}

}  // namespace

// The top kSubBits + 1 bits of a value choose its bucket; smaller values have one each.
std::size_t LatencyHistogram::index_of(std::int64_t ns) {
  const auto value = static_cast<std::uint64_t>(ns);
  const auto width = static_cast<unsigned>(std::bit_width(value));
  const unsigned shift = width > kSubBits + 1 ? width - kSubBits - 1 : 0;
  return shift * kSubBuckets + static_cast<std::size_t>(value >> shift);
}

std::int64_t LatencyHistogram::lowest_in(std::size_t index) {
  if (index < 2 * kSubBuckets) return static_cast<std::int64_t>(index);
  const std::size_t shift = index / kSubBuckets - 1;
  return static_cast<std::int64_t>(index % kSubBuckets + kSubBuckets) << shift;
}

std::int64_t LatencyHistogram::highest_in(std::size_t index) {
  return index + 1 < kBuckets ? lowest_in(index + 1) - 1 : INT64_MAX;
}

void LatencyHistogram::record(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  lower_to(min_, ns);
  raise_to(max_, ns);
  add(counts_[index_of(ns)], 1);
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    add(counts_[i], other.counts_[i].load(std::memory_order_relaxed));
  }
  lower_to(min_, other.min_.load(std::memory_order_relaxed));
  raise_to(max_, other.max_.load(std::memory_order_relaxed));
}

std::uint64_t LatencyHistogram::count() const {
  std::uint64_t total = 0;
  for (const auto& counter : counts_) total += counter.load(std::memory_order_relaxed);
  return total;
}

std::int64_t LatencyHistogram::min_ns() const {
  const std::int64_t value = min_.load(std::memory_order_relaxed);
  return value == INT64_MAX ? 0 : value;
}

std::int64_t LatencyHistogram::percentile_ns(double percent) const {
  const std::uint64_t total = count();
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

}  // namespace motion_watch
