// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weftline {

/// The figures that a histogram is read for; all 0 while there is no sample. Extremes are exact;
/// for the others see LatencyHistogram::percentile_ns().
struct LatencySummary {
  std::uint64_t count{0};
  std::int64_t min_ns{0};
  std::int64_t p50_ns{0};
  std::int64_t p90_ns{0};
  std::int64_t p99_ns{0};
  std::int64_t p999_ns{0};
  std::int64_t max_ns{0};
  std::uint64_t total_ns{0};  ///< Of all samples together.
  friend bool operator==(const LatencySummary&, const LatencySummary&) = default;
};

/// Counts of durations in nanoseconds, in buckets that are exact below 128 ns and never wider than
/// 1/64 of their lower edge above. Fixed size (about 30 KiB), covers every non-negative int64.
///
/// One thread writes (`record`, `merge`); any thread may read meanwhile and sees each sample either
/// wholly or not yet in a bucket. Neither side blocks; only `buckets` allocates.
class LatencyHistogram {
 public:
  LatencyHistogram() = default;
  LatencyHistogram(const LatencyHistogram&) = delete;
  LatencyHistogram& operator=(const LatencyHistogram&) = delete;

  /// Adds one sample: about ten instructions. A negative one (a clock that went back) counts as 0.
  void record(std::int64_t ns) noexcept {
    ns = ns < 0 ? 0 : ns;
    // One writer, so no read-modify-write is needed.
    if (ns < min_.load(std::memory_order_relaxed)) min_.store(ns, std::memory_order_relaxed);
    if (ns > max_.load(std::memory_order_relaxed)) max_.store(ns, std::memory_order_relaxed);
    add(total_, static_cast<std::uint64_t>(ns));
    add(counts_[index_of(ns)], 1);
  }

  /// Adds every sample of `other`, which may be written to meanwhile.
  void merge(const LatencyHistogram& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept;

  /// The exact extremes; 0 while there is no sample.
  [[nodiscard]] std::int64_t min_ns() const noexcept;
  [[nodiscard]] std::int64_t max_ns() const noexcept {
    return max_.load(std::memory_order_relaxed);
  }

  /// The smallest value that at least `percent` of the samples do not exceed, rounded up to the
  /// last value of its bucket (at most 1.6 % too high) but never above the maximum. `percent` is
  /// clamped to [0, 100]; 0 while there is no sample.
  [[nodiscard]] std::int64_t percentile_ns(double percent) const noexcept;
  [[nodiscard]] std::uint64_t total_ns() const noexcept {
    return total_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] LatencySummary summary() const noexcept;

  /// A stretch of the axis, both ends inclusive.
  struct Bucket {
    std::int64_t low_ns{0};
    std::int64_t high_ns{0};
    std::uint64_t count{0};
  };

  /// For drawing: four buckets per doubling, without gaps, from the first to the last that has
  /// samples.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  static constexpr unsigned kSubBits = 6;
  static constexpr std::size_t kSubBuckets = std::size_t{1} << kSubBits;
  static constexpr std::size_t kBuckets = (63 - kSubBits + 1) * kSubBuckets;

  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t n) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  /// The top kSubBits + 1 bits of a value choose its bucket; smaller values have one each.
  [[nodiscard]] static std::size_t index_of(std::int64_t ns) noexcept {
    const auto value = static_cast<std::uint64_t>(ns);
    const auto width = static_cast<unsigned>(std::bit_width(value));
    const unsigned shift = width > kSubBits + 1 ? width - kSubBits - 1 : 0;
    return shift * kSubBuckets + static_cast<std::size_t>(value >> shift);
  }
  [[nodiscard]] static std::int64_t lowest_in(std::size_t index) noexcept;
  [[nodiscard]] static std::int64_t highest_in(std::size_t index) noexcept;
  [[nodiscard]] std::int64_t value_at(double percent, std::uint64_t total) const noexcept;

  std::array<std::atomic<std::uint64_t>, kBuckets> counts_{};
  std::atomic<std::int64_t> min_{INT64_MAX};
  std::atomic<std::int64_t> max_{0};
  std::atomic<std::uint64_t> total_{0};
};

}  // namespace weftline
