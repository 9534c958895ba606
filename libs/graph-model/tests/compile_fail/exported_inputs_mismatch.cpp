// SPDX-License-Identifier: Apache-2.0
// One exported input for two payloads.
#include "weftline/graph/graph.hpp"

class Body final : public weftline::Graph {
 public:
  using Graph::Graph;
  void both(const weftline::Input<float>& a, const weftline::Input<std::uint32_t>& b) {
    export_input("both", a, b);
  }
};
