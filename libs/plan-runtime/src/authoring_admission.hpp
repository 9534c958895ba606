// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/core/error.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline::runtime {

/// Refuses a plan whose lifecycle this runtime can't follow, whose endpoints belong to several
/// process groups, or whose outputs keep history, which it does not do. Before anything is made.
[[nodiscard]] expected<void, Error> check_authoring_records(const PlanRecords& plan);

}  // namespace weftline::runtime
