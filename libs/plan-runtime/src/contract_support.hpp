// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/core/error.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// Whether this runtime can run every contract of the plan: the triggers OnEach, OnAnyInput,
/// OnClock and OnAligned, each input taken as the trigger pins it. kNotSupported
/// (RUN_CONTRACT_UNSUPPORTED) names the first fact that it can't, and `place` the operator; asked
/// before anything is made.
[[nodiscard]] expected<void, Error> check_contracts_supported(const PlanRecords& plan,
                                                              std::string& place);

}  // namespace weftline::runtime
