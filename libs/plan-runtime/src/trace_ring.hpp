// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "weftline/runtime/run_trace.hpp"

namespace weftline::runtime {

/// The last events of one lane. The lane writes, any thread reads, nobody waits: an event that is
/// written while it is read is left out.
///
/// `begun_` counts the events whose writing began, `written_` those that are whole; only the lane
/// writes both. Each word of an event is stored with release after `begun_` and loaded with
/// acquire: a reader that saw a word of event n sees `begun_` past n, too. So an event that it
/// copied is whole when `written_` was past it before, and `begun_`, read afterwards, is not past
/// it by more than a whole ring.
class TraceRing {
 public:
  /// Rounded up to a power of two.
  explicit TraceRing(std::uint32_t capacity)
      : mask_(std::bit_ceil(std::uint64_t{capacity}) - 1), cells_(mask_ + 1) {}

  /// The lane only. Allocates nothing.
  void record(const TraceEvent& event) noexcept {
    const std::uint64_t number = written_.load(std::memory_order_relaxed);
    begun_.store(number + 1, std::memory_order_relaxed);
    Cell& cell = cells_[number & mask_];
    cell[0].store(static_cast<std::uint64_t>(event.kind) |
                      std::uint64_t{event.port & 0xff'ffffU} << 8 |
                      std::uint64_t{event.vertex.value} << 32,
                  std::memory_order_release);
    cell[1].store(static_cast<std::uint64_t>(event.begin_ns), std::memory_order_release);
    cell[2].store(static_cast<std::uint64_t>(event.end_ns), std::memory_order_release);
    cell[3].store(event.value, std::memory_order_release);
    written_.store(number + 1, std::memory_order_release);
  }

  /// Any thread; allocates. Returns how many events before them are gone.
  std::uint64_t read(std::vector<TraceEvent>& events) const {
    const std::uint64_t end = written_.load(std::memory_order_acquire);
    const std::uint64_t first = end > cells_.size() ? end - cells_.size() : 0;
    events.clear();
    events.reserve(end - first);
    for (std::uint64_t number = first; number < end; ++number) {
      events.push_back(decode(cells_[number & mask_]));
    }
    const std::uint64_t begun = begun_.load(std::memory_order_relaxed);
    const std::uint64_t whole = begun > cells_.size() ? begun - cells_.size() : 0;
    if (whole <= first) return first;
    const std::uint64_t torn = std::min(whole, end) - first;
    events.erase(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(torn));
    return first + torn;
  }

 private:
  using Cell = std::array<std::atomic<std::uint64_t>, 4>;
  [[nodiscard]] static TraceEvent decode(const Cell& cell) noexcept {
    const std::uint64_t subject = cell[0].load(std::memory_order_acquire);
    TraceEvent event;
    event.kind = static_cast<TraceEventKind>(subject & 0xff);
    event.port = static_cast<std::uint32_t>(subject >> 8 & 0xff'ffff);
    event.vertex = VertexId{static_cast<std::uint32_t>(subject >> 32)};
    event.begin_ns = static_cast<std::int64_t>(cell[1].load(std::memory_order_acquire));
    event.end_ns = static_cast<std::int64_t>(cell[2].load(std::memory_order_acquire));
    event.value = cell[3].load(std::memory_order_acquire);
    return event;
  }

  const std::uint64_t mask_;
  std::vector<Cell> cells_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<std::uint64_t> written_{0};
};

}  // namespace weftline::runtime
