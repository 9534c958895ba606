// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/graph/graph.hpp"

namespace small {

using namespace weftline;

class Source final : public Operator<> {
 public:
  Output<std::uint32_t> out;
  Output<Tensor> frames;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out");
    spec.output(frames, "frames");
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::milliseconds(5)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

class Relay final : public Operator<> {
 public:
  Input<std::uint32_t> in;
  Output<std::uint32_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

class Sink final : public Operator<> {
 public:
  Input<std::uint32_t> in;
  Input<Tensor> frames;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.input(frames, "frames");
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

/// Two relays in a row.
class Pair final : public Graph {
 public:
  using Graph::Graph;
  GraphInput<std::uint32_t> in;
  GraphOutput<std::uint32_t> out;
  std::optional<OperatorHandle<Relay>> first;

 protected:
  void compose() override {
    first.emplace(op<Relay>("first"));
    const auto second = op<Relay>("second");
    add_flow((*first)->out, second->in);
    in = export_input("in", (*first)->in);
    out = export_output("out", second->out);
  }
};

}  // namespace small
