// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace weftline {

/// By vertex: the vertices that its edges lead to; repeats allowed.
using Successors = std::vector<std::vector<std::uint32_t>>;

/// Each vertex once, after all its predecessors, the smallest possible number first. Vertices on or
/// behind a loop have no such place: they follow at the end, in order.
[[nodiscard]] std::vector<std::uint32_t> topological_order(const Successors& successors);

/// One shortest loop for each set of vertices that can all reach one another, beginning at the
/// smallest vertex of the set; no loop is closed by repeating its first vertex. Not recursive: as
/// long as memory lasts, any size will do.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> find_loops(const Successors& successors);

}  // namespace weftline
