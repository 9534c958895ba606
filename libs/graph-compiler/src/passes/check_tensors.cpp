// SPDX-License-Identifier: Apache-2.0
//
// Needs: edges, memory kinds, the derived ones included.
// Adds: errors for edges whose two ends state different tensors.

#include <string>

#include "passes/passes.hpp"
#include "weftline/graph/tensor_contract_conflicts.hpp"

namespace weftline::passes {

void check_tensors(CompileState& state) {
  for (const PayloadEdgePlanRecord& edge : state.plan.payload_edges) {
    const std::string conflicts = tensor_contract_conflicts(state.output(edge.source).tensor,
                                                            state.input(edge.target).tensor);
    if (conflicts.empty()) continue;
    state.error("PHYSICAL_TENSOR_LAYOUT_MISMATCH", state.edge_name(edge), conflicts,
                "state the same on both sides, or put an operator between them that converts");
  }
}

}  // namespace weftline::passes
