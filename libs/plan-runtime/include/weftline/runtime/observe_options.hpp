// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weftline {

/// What a run notes beside its counters, which are always on. With all of it off an activation and
/// an emit cost one predictable branch each; what is on is sized before the run starts and
/// allocates nothing afterwards.
struct ObserveOptions {
  /// Histograms of compute(), of the time that samples spend on each edge, and from each source to
  /// each sink: RunCounters. About 30 KiB each, two clock readings an activation and one an emit.
  bool latencies{false};
  /// Keeps the last so many events of each lane (32 bytes each, rounded up to a power of two) for
  /// RunSession::trace(); 0 keeps none. Two clock readings an activation and one an emit.
  std::uint32_t trace_events{0};
  /// Ranges around compute() and marks for emits and receives in the NVTX domain "weftline", for
  /// profilers. Needs a build with the CUDA Toolkit; without one the session warns
  /// (RUN_NVTX_UNAVAILABLE).
  bool nvtx{false};

  [[nodiscard]] bool any() const noexcept { return latencies || nvtx || trace_events != 0; }
};

}  // namespace weftline
