// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>

#include "test_graph.hpp"
#include "test_params.hpp"
#include "weftline/compile/compile.hpp"
#include "weftline/core/digest.hpp"
#include "weftline/graph/param_json.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

TestGraph with(ParamSet params) {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  graph.vertex("b").params = std::move(params);
  return graph;
}

VideoParams video(std::string path = "/dev/video0") { return {.path = std::move(path)}; }

TEST_CASE("a plan records each parameter with its type, limits and value") {
  const ExecutionPlan plan = with(ParamSet::given(video())).compile();
  REQUIRE(plan.ok());
  CHECK_FALSE(find_op(plan, "a").parameters);
  const auto& parameters = find_op(plan, "b").parameters;
  REQUIRE(parameters);
  const auto schema = ParamSchema::of<VideoParams>();
  CHECK(parameters->schema_id == "com.example.Video");
  CHECK(parameters->schema_version == 1);
  CHECK(parameters->structural_hash == schema.structural_hash());
  CHECK(parameters->contract_hash == schema.contract_hash());
  CHECK(parameters->metadata_hash == schema.metadata_hash());
  REQUIRE(parameters->fields.size() == 4);
  const ParamFieldPlanRecord& fps = parameters->fields[0];
  CHECK(fps.path == "fps");
  CHECK(fps.hash == schema.find("fps")->hash);
  CHECK(fps.type == "uint32");
  CHECK(fps.value == JsonValue(30));
  CHECK(fps.unit == "Hz");
  CHECK(fps.minimum == JsonValue(1));
  CHECK(fps.maximum == JsonValue(120));
  CHECK(fps.mutability == ParamMutability::kLifecycle);
  CHECK(fps.stage == LifecycleStage::kAllocate);
  CHECK(parameters->fields[1].path == "key");
  CHECK(parameters->fields[1].sensitive);
  CHECK(parameters->fields[1].value.is_null());
  CHECK(parameters->fields[2].path == "lens.gain");
  CHECK(parameters->fields[2].value == JsonValue("0.5"));
  CHECK(parameters->fields[2].mutability == ParamMutability::kRecompile);
  CHECK(parameters->fields[3].value == JsonValue("/dev/video0"));
}

TEST_CASE("a plan's digest depends on values, but not on sensitive ones") {
  const std::string digest = with(ParamSet::given(video())).compile().digest();
  CHECK(with(ParamSet::given(video())).compile().digest() == digest);
  CHECK(with(ParamSet::given(video("/dev/video1"))).compile().digest() != digest);
  VideoParams secret = video();
  secret.key = "swordfsh";
  const ExecutionPlan plan = with(ParamSet::given(secret)).compile();
  CHECK(plan.digest() == digest);
  for (const std::string& text : {plan.json(), render_plan(plan.records())}) {
    CHECK(text.find("swordfsh") == std::string::npos);
    CHECK(text.find("hunter2") == std::string::npos);
  }
}

TEST_CASE("a plan that is refused holds no sensitive value either") {
  VideoParams wrong = video();
  wrong.key = "swordfish-swordfish";
  wrong.fps = 0;
  const ExecutionPlan plan = with(ParamSet::given(wrong)).compile();
  CHECK_FALSE(plan.ok());
  CHECK(plan.diagnostics().size() == 2);
  CHECK(plan.json().find("swordfish") == std::string::npos);
  CHECK(format_diagnostics(plan.diagnostics()).find("swordfish") == std::string::npos);
  CHECK(plan.json() != with(ParamSet::given(video())).compile().json());
}

TEST_CASE("values that no JSON can hold give a plan that can be printed") {
  VideoParams wrong = video("\xff\x1b");
  wrong.lens.gain = std::numeric_limits<double>::quiet_NaN();
  const ExecutionPlan plan = with(ParamSet::given(wrong)).compile();
  CHECK_FALSE(plan.ok());
  CHECK(parse_json(plan.json()).has_value());
  CHECK(render_plan(plan.records()).find('\x1b') == std::string::npos);
}

TEST_CASE("schemas of one id and version that differ only in words do not conflict") {
  TestGraph graph = with(ParamSet::given(video()));
  RewordedParams reworded;
  reworded.path = "/dev/video0";
  graph.vertex("a").params = ParamSet::given(reworded);
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(find_op(plan, "a").parameters->metadata_hash !=
        find_op(plan, "b").parameters->metadata_hash);
}

class Player final : public Operator<VideoParams> {
 public:
  Output<std::uint32_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::nanoseconds(1'000'000'000 / params().fps)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

TEST_CASE("a document becomes the operator's parameters and the plan's") {
  Graph graph{"demo"};
  const auto player = graph.op<Player>("player");
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  CHECK_FALSE(compile(graph).ok());
  const auto decoded =
      parse_params<VideoParams>(R"({"path":"/v","fps":50,"key":"secret","lens":{"gain":0.25}})");
  REQUIRE(decoded);
  player.set_params(*decoded);
  const ExecutionPlan plan = compile(graph);
  REQUIRE(plan.ok());
  const OperatorPlanRecord& record = find_op(plan, "player");
  CHECK(record.trigger.period_ns == 20'000'000);
  CHECK(record.parameters->fields[2].value == JsonValue("0.25"));
  const auto instance = plan.operator_factory(record.id)();
  CHECK(static_cast<const Player&>(*instance).params().key == "secret");
  CHECK(static_cast<const Player&>(*instance).params().path == "/v");
}

TEST_CASE("an operator never sees values that its schema refuses") {
  Graph graph{"demo"};
  const auto player = graph.op<Player>("player");
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  player.set_params({.path = "/v", .fps = 0});  // contract() divides by it
  const ExecutionPlan plan = compile(graph);
  std::string tokens;
  for (const Diagnostic& diagnostic : plan.diagnostics()) tokens += diagnostic.token + " ";
  CHECK(tokens == "GRAPH_OUTPUT_UNCONNECTED PARAM_VALIDATION_FAILED ");
}

}  // namespace
}  // namespace weftline
