// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "weftline/plan/temporal_records.hpp"

namespace weftline::testing {

/// A contract over some inputs as a plan freezes it: any trigger but OnPredicate, any selectors and
/// policies that go with it, with small times and capacities. Not for programs.
struct RandomContract {
  TemporalTriggerPlanRecord trigger{};
  std::vector<SourcePlanRecord> sources{};
  std::vector<EdgeSelectionRecord> selections{};  ///< By input.
};

/// Of zero to three inputs.
[[nodiscard]] RandomContract random_contract(std::mt19937& random);

}  // namespace weftline::testing
