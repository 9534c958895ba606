// SPDX-License-Identifier: Apache-2.0
#include "arm_numbers.hpp"

#include <algorithm>
#include <numeric>

namespace weftline::runtime {

ArmNumbers::ArmNumbers(const PlanRecords& plan)
    : edges_(plan.payload_edges.size()), arms_(plan.payload_edges.size()) {
  std::iota(edges_.begin(), edges_.end(), std::size_t{0});
  std::ranges::stable_sort(edges_, {},
                           [&](std::size_t edge) { return plan.payload_edges[edge].source; });
  for (std::uint32_t arm = 0; arm < edges_.size(); ++arm) arms_[edges_[arm]] = arm;
}

ArmNumbers::Range ArmNumbers::arms_of(const PlanRecords& plan, PortRef output) const {
  const auto found = std::ranges::equal_range(
      edges_, output, {}, [&](std::size_t edge) { return plan.payload_edges[edge].source; });
  return {.first = static_cast<std::uint32_t>(found.begin() - edges_.begin()),
          .count = static_cast<std::uint32_t>(found.size())};
}

}  // namespace weftline::runtime
