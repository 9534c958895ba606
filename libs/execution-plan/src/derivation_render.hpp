// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// For people: the formulas of derived slot bytes with all their values, and derived memory kinds.
/// Nothing when there are none.
void render_derivations(std::string& out, const PlanRecords& records);

}  // namespace weftline
