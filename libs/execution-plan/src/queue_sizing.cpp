// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/queue_sizing.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weftline {

expected<QueueSize, Error> size_queue(Rational rate, Rational horizon, Rational headroom,
                                      std::uint64_t hard_floor) {
  const auto arrivals = rate.ceil_of_product(horizon);
  if (!arrivals) return tl::make_unexpected(arrivals.error());
  const auto whole = Rational::make(*arrivals, 1);
  if (!whole) return tl::make_unexpected(whole.error());
  const auto recommendation = whole->ceil_of_product(headroom);
  if (!recommendation) return tl::make_unexpected(recommendation.error());
  return QueueSize{*arrivals, *recommendation, std::max(hard_floor, *recommendation)};
}

std::uint64_t compose_hard_floor(std::span<const HardFloorContributorRecord> contributors) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> groups;
  for (const HardFloorContributorRecord& each : contributors) {
    std::uint32_t& entries = groups[{each.scenario, each.group}];
    entries = std::max(entries, each.entries);
  }
  std::map<std::uint32_t, std::uint64_t> scenarios;
  for (const auto& [place, entries] : groups) scenarios[place.first] += entries;
  std::uint64_t floor = 0;
  for (const auto& [scenario, entries] : scenarios) floor = std::max(floor, entries);
  return floor;
}

PoolSlots count_pool_slots(std::uint64_t producer_entries,
                           std::span<const PoolCapacityDependencyRecord> dependencies) {
  std::map<PortRef, PoolSlots> longest;
  PoolSlots total{producer_entries, producer_entries};
  for (const PoolCapacityDependencyRecord& each : dependencies) {
    PoolSlots& arm = longest[each.source];
    arm.active = std::max<std::uint64_t>(arm.active, each.active_shared_slots);
    arm.admitted = std::max<std::uint64_t>(arm.admitted, each.admitted_shared_slots);
    total.active += each.own_slots;
    total.admitted += each.own_slots;
  }
  for (const auto& [source, arm] : longest) {
    total.active += arm.active;
    total.admitted += arm.admitted;
  }
  return total;
}

}  // namespace weftline
