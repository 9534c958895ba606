// SPDX-License-Identifier: Apache-2.0
// Ports of different payload types can't be connected.
#include "weftline/graph/graph.hpp"

struct Source : weftline::Operator<> {
  weftline::Output<std::uint32_t> out;
  void setup(weftline::OperatorSpec& spec) override { spec.output(out, "out"); }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext&) override {
    return {};
  }
};
struct Sink : weftline::Operator<> {
  weftline::Input<float> in;
  void setup(weftline::OperatorSpec& spec) override { spec.input(in, "in"); }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext&) override {
    return {};
  }
};

void author(weftline::Graph& graph) {
  graph.add_flow(graph.op<Source>("source")->out, graph.op<Sink>("sink")->in);
}
