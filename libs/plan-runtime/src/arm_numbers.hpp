// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// The edges of a plan in an order in which those of one output are neighbours: what the slots of
/// its pool note their holders by.
class ArmNumbers {
 public:
  explicit ArmNumbers(const PlanRecords& plan);

  /// Of an edge, by its index in the plan.
  [[nodiscard]] std::uint32_t arm_of(std::size_t edge) const { return arms_.at(edge); }
  [[nodiscard]] std::size_t edge_of(std::uint32_t arm) const { return edges_.at(arm); }
  struct Range {
    std::uint32_t first{0};
    std::uint32_t count{0};
  };
  [[nodiscard]] Range arms_of(const PlanRecords& plan, PortRef output) const;

 private:
  std::vector<std::size_t> edges_{};
  std::vector<std::uint32_t> arms_{};
};

}  // namespace weftline::runtime
