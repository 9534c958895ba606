// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <string_view>

#include "test_graph.hpp"

namespace weftline {
namespace {

using Kind = TemporalRecordTriggerKind;
using Horizons = AccumulationHorizonBasis;

/// "a.out" feeds "b.in", and b's "b.out" feeds "c.in".
TestGraph chain() {
  TestGraph graph;
  return graph.source("a").relay("b").sink("c").flow("a.out", "b.in").flow("b.out", "c.in");
}

/// "join" aligns "camera" with "imu".
TestGraph aligned(std::int64_t window_ns = 0) {
  TestGraph graph;
  graph.source("camera").source("imu").op("join", {"camera", "imu"}, {});
  graph.flow("camera.out", "join.camera").flow("imu.out", "join.imu");
  return graph.trigger("join", {.kind = Kind::kAligned, .inputs = {0, 1}, .window_ns = window_ns});
}

/// Of an output "b.out" or an input "b.in".
PortRatePlanRecord rate_of(const ExecutionPlan& plan, std::string_view name) {
  for (const PortRatePlanRecord& rate : plan.port_rates()) {
    const PlanRecords& records = plan.records();
    if (name == (rate.is_output ? records.output_name(rate.port) : records.input_name(rate.port)))
      return rate;
  }
  throw std::logic_error("no port");
}

std::string nominal(const ExecutionPlan& plan, std::string_view name) {
  const auto rate = rate_of(plan, name);
  return rate.nominal ? rate.nominal->to_string() : "none";
}

const AccumulationHorizonPlanRecord& horizon_into(const ExecutionPlan& plan,
                                                  std::string_view input) {
  for (const PayloadEdgePlanRecord& edge : plan.payload_edges()) {
    if (plan.records().input_name(edge.target) == input)
      return plan.accumulation_horizons()[edge.edge.value];
  }
  throw std::logic_error("no edge");
}

TEST_CASE("every port has a rate record, by operator, inputs first") {
  const ExecutionPlan plan = chain().compile();
  REQUIRE(plan.port_rates().size() == 4);
  CHECK(rate_of(plan, "a.out").basis == PortRateBasis::kUndeclared);
  CHECK(plan.records().output_rate({VertexId{1}, 0}) == &plan.port_rates()[2]);
  CHECK(plan.records().input_rate({VertexId{1}, 0}) == &plan.port_rates()[1]);
  CHECK(plan.records().input_rate({VertexId{1}, 1}) == nullptr);
  CHECK(plan.records().output_rate({}) == nullptr);
}

TEST_CASE("an input has the rate of the output that feeds it") {
  TestGraph graph = chain();
  graph.nominal("a.out", Rate::per(30'000, 1'001));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(nominal(plan, "a.out") == "30000/1001");
  CHECK(nominal(plan, "b.in") == "30000/1001");
  CHECK(rate_of(plan, "b.in").basis == PortRateBasis::kUpstream);
  CHECK(rate_of(plan, "b.out").basis == PortRateBasis::kUndeclared);
}

TEST_CASE("a follower of 60 Hz by 1/4 has 15 Hz, one to one it has 60") {
  TestGraph graph = chain();
  graph.nominal("a.out", Rate::hz(60)).follows("b.out", {1, 4});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(nominal(plan, "b.out") == "15");
  CHECK(nominal(plan, "c.in") == "15");
  const auto rate = rate_of(plan, "c.in");
  CHECK(plan.records().output_name(rate.root) == "a.out");
  CHECK(rate.factor.to_string() == "1/4");
  CHECK(nominal(graph.follows("b.out", {}).compile(), "c.in") == "60");
}

TEST_CASE("following leaves the trigger alone") {
  TestGraph graph = chain();
  graph.nominal("a.out", Rate::hz(60));
  const ExecutionPlan before = graph.compile();
  const ExecutionPlan after = graph.follows("b.out", {1, 4}).compile();
  CHECK(find_op(after, "b").trigger.kind == find_op(before, "b").trigger.kind);
  CHECK(find_op(after, "b").trigger.inputs == find_op(before, "b").trigger.inputs);
  CHECK(find_op(after, "b").trigger.origin == TemporalRecordOrigin::kCoreSynthesized);
}

TEST_CASE("a selectable rate carries its maximum along the flow") {
  TestGraph graph = chain();
  graph.selectable("a.out", Rate::hz(60), Rate::hz(120)).follows("b.out", {1, 4});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(rate_of(plan, "c.in").nominal->to_string() == "15");
  CHECK(rate_of(plan, "c.in").maximum->to_string() == "30");
  const ExecutionPlan open = graph.selectable("a.out", Rate::hz(60), std::nullopt).compile();
  CHECK(rate_of(open, "c.in").nominal->to_string() == "15");
  CHECK_FALSE(rate_of(open, "c.in").maximum.has_value());
}

TEST_CASE("an expectation counts only where upstream says nothing and the horizon is finite") {
  TestGraph graph = chain();
  graph.input("b.in").expected_rate = Rate::hz(60);
  const ExecutionPlan endless = graph.compile();
  CHECK(nominal(endless, "b.in") == "none");
  CHECK(rate_of(endless, "b.in").kind == PortRateKind::kExpectedInput);

  const ExecutionPlan used = graph.accumulates("b.in", Horizon::seconds(1, 15)).compile();
  CHECK(nominal(used, "b.in") == "60");
  CHECK(rate_of(used, "b.in").basis == PortRateBasis::kExpected);

  const ExecutionPlan upstream = graph.nominal("a.out", Rate::hz(60)).compile();
  CHECK(rate_of(upstream, "b.in").basis == PortRateBasis::kUpstream);
  CHECK(upstream.diagnostics().empty());
}

TEST_CASE("an expectation does not count where upstream says something that has no value") {
  TestGraph graph = chain();
  graph.follows("b.out", {1, 1}).accumulates("c.in", Horizon::seconds(1, 15));
  graph.input("c.in").expected_rate = Rate::hz(60);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(rate_of(plan, "b.out").basis == PortRateBasis::kUnresolved);
  CHECK(rate_of(plan, "c.in").basis == PortRateBasis::kUnresolved);
  CHECK(nominal(plan, "c.in") == "none");
}

TEST_CASE("nothing follows from an expectation") {
  TestGraph graph = chain();
  graph.follows("b.out", {1, 1}).accumulates("b.in", Horizon::seconds(1, 15));
  graph.input("b.in").expected_rate = Rate::hz(60);
  const ExecutionPlan plan = graph.compile();
  CHECK(nominal(plan, "b.in") == "60");
  CHECK(nominal(plan, "c.in") == "none");
}

TEST_CASE("an expectation within a selectable rate's maximum is no contradiction") {
  TestGraph graph = chain();
  graph.selectable("a.out", Rate::hz(60), Rate::hz(120));
  graph.input("b.in").expected_rate = Rate::hz(120);
  CHECK(graph.compile().diagnostics().empty());
  graph.input("b.in").expected_rate = Rate::hz(121);
  CHECK(graph.compile().diagnostics().size() == 1);
}

TEST_CASE("samples of an aligned input pile up for the slowest partner's period and the window") {
  TestGraph graph = aligned();
  graph.nominal("camera.out", Rate::hz(60)).nominal("imu.out", Rate::hz(1'000));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(horizon_into(plan, "join.imu").seconds->to_string() == "1/60");
  CHECK(horizon_into(plan, "join.camera").seconds->to_string() == "1/1000");
  graph.trigger("join", {.kind = Kind::kAligned, .inputs = {0, 1}, .window_ns = 1});
  const ExecutionPlan wider = graph.compile();
  CHECK(horizon_into(wider, "join.imu").seconds->to_string() == "50000003/3000000000");
  CHECK(horizon_into(wider, "join.imu").basis == Horizons::kAlignedPartner);
}

TEST_CASE("of three aligned inputs, the slowest of the two others counts") {
  TestGraph graph;
  graph.source("a").source("b").source("c").op("join", {"a", "b", "c"}, {});
  graph.flow("a.out", "join.a").flow("b.out", "join.b").flow("c.out", "join.c");
  graph.trigger("join", {.kind = Kind::kAligned, .inputs = {2, 0, 1}, .window_ns = 0});
  graph.nominal("a.out", Rate::hz(7)).nominal("b.out", Rate::hz(60)).nominal("c.out", Rate::hz(30));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(horizon_into(plan, "join.a").seconds->to_string() == "1/30");
  CHECK(horizon_into(plan, "join.b").seconds->to_string() == "1/7");
  CHECK(horizon_into(plan, "join.c").seconds->to_string() == "1/7");
}

TEST_CASE("an aligned input has no horizon without a bound on its partner's period") {
  TestGraph graph = aligned();
  graph.nominal("imu.out", Rate::hz(1'000));
  CHECK(horizon_into(graph.compile(), "join.imu").basis == Horizons::kPartnerUnknown);
  graph.input("join.camera").expected_rate = Rate::hz(60);
  CHECK(horizon_into(graph.compile(), "join.imu").basis == Horizons::kPartnerUnknown);
  graph.selectable("camera.out", Rate::hz(60), Rate::hz(120));
  const ExecutionPlan plan = graph.compile();
  CHECK(horizon_into(plan, "join.imu").basis == Horizons::kPartnerSelectable);
  CHECK_FALSE(horizon_into(plan, "join.imu").seconds.has_value());
}

TEST_CASE("a stated horizon is taken as it is, and other contracts have none") {
  TestGraph graph = aligned();
  graph.nominal("camera.out", Rate::hz(60)).nominal("imu.out", Rate::hz(1'000));
  graph.accumulates("join.imu", Horizon::milliseconds(20));
  CHECK(horizon_into(graph.compile(), "join.imu").seconds->to_string() == "1/50");
  CHECK(horizon_into(graph.compile(), "join.imu").basis == Horizons::kDeclared);
  for (const TemporalTriggerPlanRecord& trigger :
       {TemporalTriggerPlanRecord{.kind = Kind::kEach, .inputs = {0}},
        TemporalTriggerPlanRecord{.kind = Kind::kAnyInput, .inputs = {0}}}) {
    TestGraph other = chain();
    other.nominal("a.out", Rate::hz(60)).trigger("b", trigger);
    CHECK(horizon_into(other.compile(), "b.in").basis == Horizons::kNone);
  }
}

TEST_CASE("a loop of followers ends without a rate") {
  TestGraph graph;
  graph.relay("a").relay("b").flow("a.out", "b.in").flow("b.out", "a.in");
  graph.follows("a.out", {2, 1}).follows("b.out", {2, 1});
  const ExecutionPlan plan = graph.compile();
  CHECK_FALSE(plan.ok());
  CHECK(nominal(plan, "a.out") == "none");
  CHECK(rate_of(plan, "a.in").basis == PortRateBasis::kUnresolved);
}

TEST_CASE("a chain of 5,000 followers has its exact rate at the end") {
  TestGraph graph;
  graph.source("n100000").nominal("n100000.out", Rate::per(30'000, 1'001));
  auto& snapshot = graph.snapshot();
  for (std::uint32_t i = 1; i <= 5'000; ++i) {
    VertexSnapshot relay;
    relay.path = "n" + std::to_string(100'000 + i);
    relay.inputs = {{.name = "in", .payload = payload_identity<std::uint32_t>()}};
    relay.outputs = {{.name = "out", .payload = payload_identity<std::uint32_t>()}};
    relay.outputs[0].rate = {.kind = PortRateKind::kFollowsInput,
                             .ratio = {i % 2 == 0 ? 3U : 2U, i % 2 == 0 ? 2U : 3U}};
    snapshot.vertices.push_back(std::move(relay));
    snapshot.flows.push_back({{VertexId{i - 1}, 0}, {VertexId{i}, 0}, {}});
  }
  CHECK(nominal(graph.compile(), "n105000.out") == "30000/1001");
}

}  // namespace
}  // namespace weftline
