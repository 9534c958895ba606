// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "test_graph.hpp"

namespace weftline {
namespace {

PayloadEdgePlanRecord edge_with(ConnectionOptions connection, std::uint32_t burst) {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in", connection);
  graph.output("a.out").max_emits_per_compute = burst;
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  return plan.payload_edges()[0];
}

TEST_CASE("a queue that nobody sized holds two activations' worth, and at least 4") {
  CHECK(edge_with({}, 1).queue_depth == 4);
  CHECK(edge_with({}, 2).queue_depth == 4);
  CHECK(edge_with({}, 3).queue_depth == 6);
  CHECK(edge_with({}, 3).depth_origin == QueueDepthOrigin::kDefault);
  CHECK(edge_with({}, 32'768).queue_depth == 65'536);
  CHECK(edge_with({}, 65'536).queue_depth == 65'536);
}

TEST_CASE("a given depth is exact") {
  const auto edge = edge_with({.queue_depth = 3}, 3);
  CHECK(edge.queue_depth == 3);
  CHECK(edge.depth_origin == QueueDepthOrigin::kExplicit);
  CHECK(edge_with({.queue_depth = 65'536}, 1).queue_depth == 65'536);
}

TEST_CASE("a drop-oldest queue makes its own room, so one cell is enough") {
  const auto edge = edge_with({.queue_depth = 1, .queue_policy = QueuePolicy::kDropOldest}, 5);
  CHECK(edge.queue_depth == 1);
  CHECK(edge.queue_policy == QueuePolicy::kDropOldest);
}

/// One edge whose samples pile up over `horizon`.
TestGraph paced(Rate rate, Horizon horizon, ConnectionOptions connection = {}) {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in", connection);
  return graph.nominal("a.out", rate).accumulates("b.in", horizon);
}

std::uint32_t depth_of(const TestGraph& graph) {
  const ExecutionPlan plan = graph.compile();
  INFO(graph.diagnostics());
  REQUIRE(plan.ok());
  return plan.payload_edges()[0].queue_depth;
}

TEST_CASE("a queue holds what arrives over the horizon, twice") {
  const TestGraph graph = paced(Rate::hz(60), Horizon::seconds(1, 15));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.payload_edges()[0].queue_depth == 8);
  CHECK(plan.payload_edges()[0].depth_origin == QueueDepthOrigin::kAutomatic);
  const auto& recipe = plan.queue_sizing_recipes()[0];
  CHECK(recipe.evidence == QueueSizingEvidence::kSufficient);
  CHECK(recipe.nominal_arrivals == 4U);
  CHECK(recipe.recommendation == 8U);
  CHECK(recipe.admitted_ceiling == 8U);
  CHECK(recipe.admitted_depth == 8);
  CHECK(depth_of(paced(Rate::hz(120), Horizon::seconds(1, 15))) == 16);
}

TEST_CASE("arrivals are rounded up from the exact horizon, never from nanoseconds") {
  CHECK(depth_of(paced(Rate::hz(15), Horizon::seconds(1, 15))) == 2);
  CHECK(depth_of(paced(Rate::hz(15), Horizon::seconds(66'666'667, 1'000'000'000))) == 4);
  CHECK(depth_of(paced(Rate::per(30'000, 1'001), Horizon::seconds(1'001, 30'000))) == 2);
  CHECK(depth_of(paced(Rate::hz(1), Horizon::seconds(1, 1'000))) == 2);
}

TEST_CASE("1 kHz aligned with 60 Hz is 34 entries, 26 at a headroom of 3/2, and 40 over 20 ms") {
  TestGraph graph;
  graph.source("imu").source("camera").op("join", {"imu", "camera"}, {});
  graph.flow("imu.out", "join.imu").flow("camera.out", "join.camera");
  graph.trigger("join",
                {.kind = TemporalRecordTriggerKind::kAligned, .inputs = {0, 1}, .window_ns = 0});
  graph.nominal("imu.out", Rate::hz(1'000)).nominal("camera.out", Rate::hz(60));
  const auto imu_depth = [&] {
    const ExecutionPlan plan = graph.compile();
    REQUIRE(plan.ok());
    return plan.payload_edges()[1].queue_depth;
  };
  CHECK(imu_depth() == 34);
  graph.options.automatic_queue_sizing.headroom_ratio = {3, 2};
  CHECK(imu_depth() == 26);
  graph.options.automatic_queue_sizing.headroom_ratio = {1, 1};
  CHECK(imu_depth() == 17);
  graph.options = TestGraph().options;
  graph.accumulates("join.imu", Horizon::milliseconds(20));
  CHECK(imu_depth() == 40);
}

TEST_CASE("the leg beside one that thins out by 4 gets room for what that leg swallows") {
  TestGraph graph;
  graph.source("a").relay("thin").op("join", {"all", "some"}, {});
  graph.flow("a.out", "thin.in").flow("a.out", "join.all").flow("thin.out", "join.some");
  graph.trigger("join",
                {.kind = TemporalRecordTriggerKind::kAligned, .inputs = {0, 1}, .window_ns = 0});
  graph.nominal("a.out", Rate::hz(60)).follows("thin.out", {1, 4});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.payload_edges()[0].queue_depth == 8);
  CHECK(plan.payload_edges()[1].depth_origin == QueueDepthOrigin::kDefault);
  CHECK(plan.payload_edges()[2].queue_depth == 2);
}

TEST_CASE("the depth is for the rate at start, the admitted one for the highest") {
  TestGraph graph = paced(Rate::hz(1), Horizon::seconds(1, 15));
  graph.selectable("a.out", Rate::hz(60), Rate::hz(120));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.payload_edges()[0].queue_depth == 8);
  CHECK(plan.queue_sizing_recipes()[0].admitted_depth == 16);
  CHECK(plan.queue_sizing_recipes()[0].admitted_ceiling == 16U);
}

TEST_CASE("a selectable rate without a maximum chooses no depth") {
  TestGraph graph = paced(Rate::hz(1), Horizon::seconds(1, 15));
  graph.selectable("a.out", Rate::hz(60), std::nullopt);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.payload_edges()[0].queue_depth == 4);
  CHECK(plan.payload_edges()[0].depth_origin == QueueDepthOrigin::kDefault);
  CHECK(plan.queue_sizing_recipes()[0].evidence == QueueSizingEvidence::kRateWithoutMaximum);
}

TEST_CASE("without a rate or a horizon the recipe says what is missing") {
  const auto evidence = [](const TestGraph& graph) {
    const ExecutionPlan plan = graph.compile();
    CHECK(plan.payload_edges()[0].depth_origin == QueueDepthOrigin::kDefault);
    return plan.queue_sizing_recipes()[0].evidence;
  };
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  CHECK(evidence(graph) == QueueSizingEvidence::kRateUndeclared);
  TestGraph expecting = graph;
  expecting.input("b.in").expected_rate = Rate::hz(60);
  CHECK(evidence(expecting) == QueueSizingEvidence::kHorizonAbsent);
  expecting.input("b.in").expected_rate = Rate::hz(0);
  expecting.accumulates("b.in", Horizon::seconds(1, 15));
  CHECK(evidence(expecting) == QueueSizingEvidence::kRateUndeclared);
  graph.nominal("a.out", Rate::hz(60));
  CHECK(evidence(graph) == QueueSizingEvidence::kHorizonAbsent);
  graph.nominal("a.out", Rate::hz(0)).accumulates("b.in", Horizon::seconds(1, 15));
  CHECK(evidence(graph) == QueueSizingEvidence::kRateUnresolved);
}

TEST_CASE("a given depth of 4 stays 4, with a warning below the recommendation only") {
  TestGraph graph = paced(Rate::hz(60), Horizon::seconds(1, 15), {.queue_depth = 4});
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.payload_edges()[0].queue_depth == 4);
  CHECK(plan.queue_sizing_recipes()[0].admitted_depth == 4);
  REQUIRE(plan.diagnostics().size() == 1);
  CHECK(plan.diagnostics()[0].token == "QUEUE_DEPTH_BELOW_RECOMMENDATION");
  CHECK(plan.diagnostics()[0].severity == DiagnosticSeverity::kWarning);
  graph.snapshot().flows[0].options.queue_depth = 7;
  CHECK(graph.compile().diagnostics().size() == 1);
  graph.snapshot().flows[0].options.queue_depth = 8;
  CHECK(graph.compile().diagnostics().empty());
}

TEST_CASE("the hard floor wins over a smaller recommendation") {
  TestGraph graph = paced(Rate::hz(60), Horizon::seconds(1, 60));
  CHECK(depth_of(graph) == 2);
  graph.output("a.out").max_emits_per_compute = 9;
  CHECK(depth_of(graph) == 9);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.hard_floor_contributors().size() == 2);
  CHECK(plan.hard_floor_contributors()[0].reason == HardFloorReason::kMinimumQueue);
  CHECK(plan.hard_floor_contributors()[1].reason == HardFloorReason::kProducerBurst);
  CHECK(plan.hard_floor_contributors()[1].entries == 9);
  graph.snapshot().flows[0].options.queue_policy = QueuePolicy::kDropOldest;
  CHECK(depth_of(graph) == 2);
}

TEST_CASE("an automatic depth of 65,536 is accepted, and one more is refused") {
  TestGraph graph = paced(Rate::hz(32'768), Horizon::seconds(1, 1));
  CHECK(depth_of(graph) == 65'536);
  graph.options.automatic_queue_sizing.headroom_ratio = {65'537, 32'768};
  REQUIRE(graph.compile().diagnostics().size() == 1);
  CHECK(graph.compile().diagnostics()[0].token == "QUEUE_DEPTH_TOO_LARGE");
  graph.options.automatic_queue_sizing.headroom_ratio = {2, 1};
  graph.selectable("a.out", Rate::hz(1), Rate::hz(32'768));
  CHECK(depth_of(graph) == 2);
  graph.selectable("a.out", Rate::hz(1), Rate::hz(32'769));
  REQUIRE(graph.compile().diagnostics().size() == 1);
  CHECK(graph.compile().diagnostics()[0].token == "QUEUE_DEPTH_TOO_LARGE");
}

TEST_CASE("64-bit rates and horizons are counted exactly up to the last sample") {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  CHECK(depth_of(paced(Rate::per(kMax, kMax - 1), Horizon::seconds(kMax - 1, kMax))) == 2);
  CHECK(depth_of(paced(Rate::per(kMax, 1), Horizon::seconds(1, kMax))) == 2);
  CHECK(depth_of(paced(Rate::per(1, kMax), Horizon::seconds(1, kMax))) == 2);
  const TestGraph beyond = paced(Rate::per(kMax, 1), Horizon::seconds(kMax, 1));
  const ExecutionPlan plan = beyond.compile();
  CHECK_FALSE(plan.ok());
  CHECK(plan.queue_sizing_recipes()[0].evidence == QueueSizingEvidence::kSizeOverflow);
  CHECK(parse_json(plan.json()).has_value());
}

}  // namespace
}  // namespace weftline
