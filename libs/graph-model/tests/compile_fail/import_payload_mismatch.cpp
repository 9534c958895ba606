// SPDX-License-Identifier: Apache-2.0
// An imported topic's payload is that of the inputs that take from it.
#include "weftline/graph/graph.hpp"

struct Sink : weftline::Operator<> {
  weftline::Input<float> in;
  void setup(weftline::OperatorSpec& spec) override { spec.input(in, "in"); }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext&) override {
    return {};
  }
};

void author(weftline::Graph& graph) {
  const auto topic = graph.import_topic<std::uint32_t>("weftline://in");
  graph.add_flow(topic.output(), graph.op<Sink>("sink")->in);
}
