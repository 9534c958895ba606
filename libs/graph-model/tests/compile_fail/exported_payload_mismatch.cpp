// SPDX-License-Identifier: Apache-2.0
// An exported port of another payload.
#include "weftline/graph/graph.hpp"

void connect(weftline::Graph& graph, const weftline::Output<float>& source,
             const weftline::GraphInput<std::uint32_t>& target) {
  graph.add_flow(source, target);
}
