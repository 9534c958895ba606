// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/latency_histogram.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace weftline {
namespace {

constexpr auto kPercents = std::to_array<double>({0, 1, 10, 25, 50, 75, 90, 99, 99.9, 100});

std::int64_t exact_percentile(const std::vector<std::int64_t>& sorted, double percent) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

TEST_CASE("percentiles are those of the sorted samples, at most 1.6 percent too high") {
  std::mt19937_64 random(9);
  std::lognormal_distribution<double> latencies(14, 1.5);
  LatencyHistogram histogram;
  std::vector<std::int64_t> samples;
  for (int i = 0; i < 20'000; ++i) {
    samples.push_back(static_cast<std::int64_t>(latencies(random)));
    histogram.record(samples.back());
  }
  std::ranges::sort(samples);
  for (const double percent : kPercents) {
    CAPTURE(percent);
    const std::int64_t exact = exact_percentile(samples, percent);
    const std::int64_t read = histogram.percentile_ns(percent);
    CHECK(read >= exact);
    CHECK(static_cast<double>(read) <= static_cast<double>(exact) * (1 + 1.0 / 64));
  }
  CHECK(histogram.count() == samples.size());
  CHECK(histogram.min_ns() == samples.front());
  CHECK(histogram.max_ns() == samples.back());
  CHECK(histogram.percentile_ns(100) == samples.back());
  const LatencySummary summary = histogram.summary();
  CHECK(summary.count == samples.size());
  CHECK(summary.min_ns == samples.front());
  CHECK(summary.p50_ns == histogram.percentile_ns(50));
  CHECK(summary.p90_ns == histogram.percentile_ns(90));
  CHECK(summary.p99_ns == histogram.percentile_ns(99));
  CHECK(summary.p999_ns == histogram.percentile_ns(99.9));
  CHECK(summary.max_ns == samples.back());
  CHECK(summary.total_ns == static_cast<std::uint64_t>(
                                std::accumulate(samples.begin(), samples.end(), std::int64_t{0})));
}

TEST_CASE("small values are exact") {
  LatencyHistogram histogram;
  for (std::int64_t ns = 1; ns <= 120; ++ns) histogram.record(ns);
  for (int percent = 0; percent <= 100; percent += 5) {
    CHECK(histogram.percentile_ns(percent) == std::max(1, percent * 120 / 100));
  }
}

TEST_CASE("the ends of the range have a bucket") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  LatencyHistogram histogram;
  histogram.record(-5);
  histogram.record(0);
  histogram.record(kMost);
  CHECK(histogram.count() == 3);
  CHECK(histogram.min_ns() == 0);
  CHECK(histogram.max_ns() == kMost);
  CHECK(histogram.percentile_ns(50) == 0);
  CHECK(histogram.percentile_ns(100) == kMost);
  const auto buckets = histogram.buckets();
  CHECK(buckets.front().low_ns == 0);
  CHECK(buckets.back().high_ns == kMost);
}

TEST_CASE("every power of two and its neighbours land in a bucket that holds them") {
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t off : {-1, 0, 1}) {
      const std::int64_t ns = (std::int64_t{1} << bit) + off;
      LatencyHistogram histogram;
      histogram.record(ns);
      const auto buckets = histogram.buckets();
      CAPTURE(ns);
      REQUIRE(buckets.size() == 1);
      CHECK(buckets[0].low_ns <= ns);
      CHECK(buckets[0].high_ns >= ns);
      CHECK(histogram.percentile_ns(50) == ns);
    }
  }
}

TEST_CASE("an empty histogram reads as zero and has no buckets") {
  const LatencyHistogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.min_ns() == 0);
  CHECK(histogram.max_ns() == 0);
  CHECK(histogram.percentile_ns(99) == 0);
  CHECK(histogram.buckets().empty());
  CHECK(histogram.summary() == LatencySummary{});
}

TEST_CASE("a percentage outside 0 to 100 reads as the nearer end") {
  LatencyHistogram histogram;
  histogram.record(10);
  histogram.record(20);
  CHECK(histogram.percentile_ns(-3) == 10);
  CHECK(histogram.percentile_ns(1e9) == 20);
}

TEST_CASE("buckets follow each other without gaps and hold every sample once") {
  LatencyHistogram histogram;
  for (const std::int64_t ns : {70, 71, 5'000, 1'000'000, 1'000'001, 90'000'000}) {
    histogram.record(ns);
  }
  const auto buckets = histogram.buckets();
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    total += buckets[i].count;
    CHECK(buckets[i].low_ns <= buckets[i].high_ns);
    if (i > 0) CHECK(buckets[i].low_ns == buckets[i - 1].high_ns + 1);
  }
  CHECK(total == 6);
  CHECK(buckets.front().count > 0);
  CHECK(buckets.back().count > 0);
  CHECK(buckets.front().low_ns == 64);
  CHECK(buckets.front().high_ns == 79);
}

TEST_CASE("merging gives what one histogram of all samples would give") {
  LatencyHistogram first;
  LatencyHistogram second;
  LatencyHistogram all;
  for (std::int64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? first : second).record(i * i);
    all.record(i * i);
  }
  first.merge(second);
  first.merge(LatencyHistogram());
  CHECK(first.count() == all.count());
  CHECK(first.min_ns() == all.min_ns());
  CHECK(first.max_ns() == all.max_ns());
  CHECK(first.total_ns() == all.total_ns());
  for (const double percent : kPercents) {
    CHECK(first.percentile_ns(percent) == all.percentile_ns(percent));
  }
}

TEST_CASE("a reader beside the writer sees counts that only grow, and in the end all") {
  LatencyHistogram histogram;
  std::atomic<bool> reader_started{false};
  std::atomic<bool> done{false};
  bool grew = true;
  std::thread reader([&] {
    std::uint64_t last = 0;
    do {
      const std::uint64_t now = histogram.count();
      grew = grew && now >= last;
      last = now;
      static_cast<void>(histogram.percentile_ns(99));
      reader_started.store(true);
    } while (!done.load());
  });
  while (!reader_started.load()) std::this_thread::yield();
  for (std::int64_t i = 0; i < 50'000; ++i) histogram.record(i);
  done.store(true);
  reader.join();
  CHECK(grew);
  CHECK(histogram.count() == 50'000);
}

}  // namespace weftline
