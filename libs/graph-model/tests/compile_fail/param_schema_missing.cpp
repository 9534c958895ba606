// SPDX-License-Identifier: Apache-2.0
// An operator whose parameters have no schema.
#include "weftline/graph/graph.hpp"

struct Level {
  int value{0};
};
struct Gate : weftline::Operator<Level> {
  void setup(weftline::OperatorSpec&) override {}
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext&) override {
    return {};
  }
};

void author(weftline::Graph& graph) { graph.op<Gate>("gate"); }
