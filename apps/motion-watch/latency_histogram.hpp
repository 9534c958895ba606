// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace motion_watch {

/// Counts of durations in nanoseconds, in buckets that are exact below 32 ns and never wider than
/// 1/32 of their lower edge above. Fixed size (about 15 KiB), covers every non-negative int64.
///
/// One thread writes (`record`, `merge`); any thread may read meanwhile and sees each sample either
/// wholly or not yet in a bucket. Neither side blocks; only `buckets` allocates.
class LatencyHistogram {
 public:
  LatencyHistogram() = default;
  LatencyHistogram(const LatencyHistogram&) = delete;
  LatencyHistogram& operator=(const LatencyHistogram&) = delete;

  /// Adds one sample. A negative one (a clock that went back) counts as 0.
  void record(std::int64_t ns);

  /// Adds every sample of `other`, which may be written to meanwhile.
  void merge(const LatencyHistogram& other);

  std::uint64_t count() const;

  /// The exact extremes; 0 while there is no sample.
  std::int64_t min_ns() const;
  std::int64_t max_ns() const { return max_.load(std::memory_order_relaxed); }

  /// The smallest value that at least `percent` of the samples do not exceed, rounded up to the
  /// last value of its bucket (at most 3.2 % too high) but never above the maximum. `percent` is
  /// clamped to [0, 100]; 0 while there is no sample.
  std::int64_t percentile_ns(double percent) const;

  /// A stretch of the axis, both ends inclusive.
  struct Bucket {
    std::int64_t low_ns;
    std::int64_t high_ns;
    std::uint64_t count;
  };

  /// For drawing: four buckets per doubling, without gaps, from the first to the last that has
  /// samples.
  std::vector<Bucket> buckets() const;

 private:
  static constexpr unsigned kSubBits = 5;
  static constexpr std::size_t kSubBuckets = std::size_t{1} << kSubBits;
  static constexpr std::size_t kBuckets = (63 - kSubBits + 1) * kSubBuckets;

  static std::size_t index_of(std::int64_t ns);
  static std::int64_t lowest_in(std::size_t index);
  static std::int64_t highest_in(std::size_t index);

  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::int64_t> min_{INT64_MAX};
  std::atomic<std::int64_t> max_{0};
};

}  // namespace motion_watch
