// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "weftline/runtime/latency_histogram.hpp"

namespace motion_watch {

using weftline::LatencyHistogram;

/// The two places where a frame ends.
enum class Sink : std::uint8_t { kPreview = 0, kEvents };
inline constexpr std::size_t kSinks = 2;

/// What the operators count while they run, for the progress line and the report. The source and
/// each sink write from one thread each; anyone may read.
class RunStats {
 public:
  void frame_captured() { captured_.fetch_add(1, std::memory_order_relaxed); }
  void frame_dropped() { dropped_.fetch_add(1, std::memory_order_relaxed); }

  /// A frame has reached one of its sinks. The later of the two records the frame's latency.
  void frame_arrived(Sink sink, std::uint64_t frame_id, std::int64_t latency_ns);

  std::uint64_t captured() const { return captured_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  /// Frames that have reached both sinks.
  std::uint64_t completed() const;
  /// From capture to the last sink, over all completed frames.
  void latency(LatencyHistogram& into) const;

  /// Why the source ended early; empty when it did not.
  void source_failed(std::string why);
  std::string source_failure() const;

 private:
  /// More than frames can be between the source and its sinks: queues and pools are far smaller.
  static constexpr std::size_t kInFlight = 4096;
  std::atomic<std::uint64_t> captured_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::array<std::atomic<std::uint8_t>, kInFlight> arrivals_{};
  std::array<LatencyHistogram, kSinks> latency_{};
  mutable std::mutex mutex_{};
  std::string source_failure_{};
};

}  // namespace motion_watch
