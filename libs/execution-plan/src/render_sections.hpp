// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

// Sections of render_plan() in files of their own. Each adds nothing where there is nothing to say.

void render_graph_instances(std::string& out, const PlanRecords& records);
void render_regions(std::string& out, const PlanRecords& records);
void render_port_configurations(std::string& out, const PlanRecords& records);
void render_lifecycle(std::string& out, const PlanRecords& records);

}  // namespace weftline
