// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// The sections about imports, and about where outputs, SMs and threads are; none where there is
/// nothing to say.
void render_imports(std::string& out, const PlanRecords& records);
void render_placements(std::string& out, const PlanRecords& records);

}  // namespace weftline
