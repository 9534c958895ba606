// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/compile/compile_options.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/graph/graph.hpp"

namespace weftline {

/// Turns a graph into an immutable plan. Pure: the same graph and options give the same records and
/// digest on every machine; no device is touched and no operator computes. All errors are reported
/// at once: look at `ok()` and `diagnostics()`. Throws only what an operator's own setup() or
/// contract() throws.
[[nodiscard]] ExecutionPlan compile(const Graph& graph, const CompileOptions& options = {});

}  // namespace weftline
