// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// The plan as a Graphviz graph, for `dot -Tsvg`: a box for each partition with its operators, each
/// operator in the colour of its stream; an arrow for each edge with its depth, dashed where the
/// oldest is dropped, bold where its fences are left out; a cylinder for each pool with its bytes;
/// endpoints outside. Names of any bytes are safe in it. A rejected plan shows what is known.
[[nodiscard]] std::string plan_dot(const PlanRecords& records);

}  // namespace weftline
