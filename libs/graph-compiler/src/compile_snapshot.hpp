// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/compile/compile_options.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/graph/graph_snapshot.hpp"

namespace weftline {

/// `compile()` behind its authoring side: the graph as values.
[[nodiscard]] ExecutionPlan compile_snapshot(GraphSnapshot snapshot, const CompileOptions& options);

}  // namespace weftline
