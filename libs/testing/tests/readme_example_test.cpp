// SPDX-License-Identifier: Apache-2.0
//
// The example of the README, as it stands there: readme_example.cmake compares them.
#include <catch2/catch_test_macros.hpp>

// begin of the example
#include "weftline/graph/param_schema.hpp"
#include "weftline/testing/operator_test_harness.hpp"

using weftline::Error;
using weftline::expected;

struct ScaleParams {
  std::int32_t factor{1};
};
WEFTLINE_PARAM_SCHEMA(ScaleParams, weftline::param_schema("example.Scale", 1),
                      weftline::field<&ScaleParams::factor>("factor"));

class Scale final : public weftline::Operator<ScaleParams> {
 public:
  weftline::Input<std::int32_t> in;
  weftline::Output<std::int32_t> out;
  void setup(weftline::OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  expected<void, Error> compute(weftline::ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    return out.emit(sample.data * params().factor);
  }
};

TEST_CASE("scale multiplies") {
  weftline::testing::OperatorTestHarness<Scale> harness;
  harness.set_params({.factor = 3}).feed(&Scale::in, {1, 2, 4}).collect(&Scale::out);
  const auto run = harness.run();
  REQUIRE(run);
  CHECK(run->termination == weftline::RunTermination::kCompleted);
  REQUIRE(harness.collected(&Scale::out).size() == 3);
  CHECK(harness.collected(&Scale::out)[2].data == 12);
}
// end of the example
