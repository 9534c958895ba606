// SPDX-License-Identifier: Apache-2.0
// A tensor contract on a port of numbers.
#include "weftline/graph/graph.hpp"

void configure(weftline::Graph& graph, const weftline::Input<float>& port) {
  graph.configure(port).expects_tensor({});
}
