// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/core/error.hpp"
#include "weftline/graph/execution_plan.hpp"

namespace weftline::runtime {

/// Whether this version can run the plan, before anything is made: an error where it would not be
/// run as written, with its place. Imports can be run where somebody has bound them.
[[nodiscard]] expected<void, Error> check_supported(const PlanRecords& plan, std::string& place,
                                                    bool imports_bound);

}  // namespace weftline::runtime
