// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "weftline/testing/operator_test_harness.hpp"

namespace {

class Negate final : public weftline::Operator<> {
 public:
  weftline::Input<std::int32_t> in;
  weftline::Output<std::int32_t> out;
  void setup(weftline::OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  weftline::expected<void, weftline::Error> compute(weftline::ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    return out.emit(-sample.data);
  }
};

}  // namespace

int main() {
  weftline::testing::OperatorTestHarness<Negate> harness;
  harness.feed(&Negate::in, {1, 2}).collect(&Negate::out);
  const auto run = harness.run();
  if (!run || harness.collected(&Negate::out).size() != 2) return 1;
  std::cout << weftline::run_termination_name(run->termination) << '\n';
  return harness.collected(&Negate::out)[1].data == -2 ? 0 : 1;
}
