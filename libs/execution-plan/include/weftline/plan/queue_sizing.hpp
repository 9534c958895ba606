// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "weftline/core/error.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

// The arithmetic of queue depths and pool slots, for the compiler and for whoever checks a rate
// against a plan later. Pure and exact.

/// No queue is deeper.
inline constexpr std::uint32_t kMaximumQueueDepth = 65'536;

struct QueueSize {
  std::uint64_t nominal_arrivals{0};  ///< ceil(rate * horizon)
  std::uint64_t recommendation{0};    ///< ceil(nominal_arrivals * headroom)
  std::uint64_t depth{0};             ///< max(hard_floor, recommendation)
};

/// kArithmeticOverflow when a number is beyond 64 bits. The depth may be beyond
/// `kMaximumQueueDepth`.
[[nodiscard]] expected<QueueSize, Error> size_queue(Rational rate, Rational horizon,
                                                    Rational headroom, std::uint64_t hard_floor);

/// Of one edge's contributors: the maximum within a group, summed over the groups of a scenario,
/// and of that the maximum over the scenarios. 0 without contributors.
[[nodiscard]] std::uint64_t compose_hard_floor(
    std::span<const HardFloorContributorRecord> contributors);

/// Distinct slots of one pool: the producer's, the longest arm behind each output, and what each
/// edge keeps for itself.
struct PoolSlots {
  std::uint64_t active{0};
  std::uint64_t admitted{0};
};
[[nodiscard]] PoolSlots count_pool_slots(
    std::uint64_t producer_entries, std::span<const PoolCapacityDependencyRecord> dependencies);

}  // namespace weftline
