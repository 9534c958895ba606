// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline::runtime {

/// Whether this version can run the plan, before anything is made: an error where it would not be
/// run as written, with its place; warnings for what the plan lets a run go without. Imports can be
/// run where somebody has bound them.
[[nodiscard]] expected<void, Error> check_supported(const PlanRecords& plan, std::string& place,
                                                    std::vector<RunDiagnostic>& warnings,
                                                    bool imports_bound);

}  // namespace weftline::runtime
