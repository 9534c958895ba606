// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "weftline/graph/graph_snapshot.hpp"

namespace weftline {

/// Puts what a graph says beside operators and flows in canonical order: embedded graphs by path,
/// regions by name, overrides by port, lifecycle facts by operator. `vertex_at`: by old index,
/// where each operator went.
void order_structure(GraphSnapshot& graph, const std::vector<std::uint32_t>& vertex_at);

/// By instance: the instances embedded in it.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> children_of(
    const std::vector<GraphInstanceSnapshot>& instances);

}  // namespace weftline
