// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"
#include "weftline/graph/param_json.hpp"

using namespace test;

namespace {

struct ScaleParams {
  std::uint64_t factor{1};
  std::uint64_t secret_offset{0};
};
WEFTLINE_PARAM_SCHEMA(ScaleParams, weftline::param_schema("test.Scale", 1),
                      weftline::field<&ScaleParams::factor>("factor").range(1, 10),
                      weftline::field<&ScaleParams::secret_offset>("secret_offset").sensitive());

class Scale final : public Operator<ScaleParams> {
 public:
  explicit Scale(std::shared_ptr<Collected<std::uint64_t>> out) : out_(std::move(out)) {}
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    out_->add(sample.data * params().factor + params().secret_offset);
    return {};
  }

 private:
  const std::shared_ptr<Collected<std::uint64_t>> out_;
};

}  // namespace

TEST_CASE("operators run with the parameters of a document, the sensitive ones too") {
  const auto out = std::make_shared<Collected<std::uint64_t>>();
  weftline::Graph graph{"parameters"};
  const auto source = graph.op<CountingSource>("source", std::uint64_t{4});
  const auto scale = graph.op<Scale>("scale", out);
  graph.add_flow(source->out, scale->in);
  graph.set_default_clock(graph.add_clock<weftline::RealtimeClock>("clock"));
  const auto decoded =
      weftline::parse_params<ScaleParams>(R"({"factor":3,"secret_offset":987654321})");
  REQUIRE(decoded);
  scale.set_params(*decoded);
  const auto plan = weftline::compile(graph);
  scale.set_params({.factor = 9});
  REQUIRE(plan.ok());
  CHECK(plan.json().find("987654321") == std::string::npos);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == weftline::RunTermination::kCompleted);
  CHECK(out->values() == std::vector<std::uint64_t>{987654321, 987654324, 987654327, 987654330});
}
