// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/core/error.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// Whether every trigger and selection of the plan can be run; asked before anything is made. A
/// plan is data, and may come from anywhere: kIncompatible (RUN_CONTRACT_INVALID) for records that
/// compile() does not make, kNotSupported (RUN_CONTRACT_UNSUPPORTED) for a trigger that this
/// version does not have. `place` names the operator or input.
[[nodiscard]] expected<void, Error> check_contracts_supported(const PlanRecords& plan,
                                                              std::string& place);

}  // namespace weftline::runtime
