// SPDX-License-Identifier: Apache-2.0
//
// What contracts become in a plan, and what follows for queues and pools.

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "test_graph.hpp"
#include "weftline/graph/selection.hpp"
#include "weftline/graph/trigger.hpp"

namespace weftline {
namespace {

using Horizons = AccumulationHorizonBasis;
using Kind = TemporalRecordTriggerKind;
using Missing = MissingDataKind;
using Reason = TensorSlotClaimReason;
using Selecting = InputSelectorKind;

/// 60 Hz exactly is no whole number of nanoseconds.
constexpr std::int64_t kFrameNs = 16'666'667;

/// "join" takes the images of "camera" and, beside them, what "imu" gives.
TestGraph beside(TemporalTriggerPlanRecord trigger, InputSelectionSnapshot selection,
                 ConnectionOptions connection = {}) {
  TestGraph graph;
  graph.source("camera").source("imu").op("join", {"camera", "imu"}, {});
  graph.flow("camera.out", "join.camera").flow("imu.out", "join.imu", connection);
  graph.trigger("join", std::move(trigger)).select("join.imu", std::move(selection));
  return graph;
}

TemporalTriggerPlanRecord each_camera() { return {.kind = Kind::kEach, .inputs = {0}}; }
TemporalTriggerPlanRecord camera_window(std::int64_t max_wait_ns = 4'000'000) {
  return {
      .kind = Kind::kWindow, .inputs = {0}, .max_wait_ns = max_wait_ns, .max_pending_windows = 3};
}
InputSelectionSnapshot drain() { return {.selector = Selecting::kDrainAll, .max_samples = 40}; }
InputSelectionSnapshot latest() {
  return {.selector = Selecting::kLatestWithin, .max_age_ns = 5'000'000};
}
InputSelectionSnapshot bracket(std::int64_t lookahead_ns = 0) {
  return {.selector = Selecting::kBracketedWindow,
          .lookbehind_ns = 8'000'000,
          .lookahead_ns = lookahead_ns,
          .max_samples = 12};
}

std::uint32_t edge_into(const ExecutionPlan& plan, std::string_view input) {
  for (const PayloadEdgePlanRecord& edge : plan.payload_edges()) {
    if (plan.records().input_name(edge.target) == input) return edge.edge.value;
  }
  throw std::logic_error("no edge into " + std::string(input));
}
EdgeSelectionRecord selection_of(const TestGraph& graph, std::string_view input) {
  const ExecutionPlan plan = graph.compile();
  INFO(graph.diagnostics());
  REQUIRE(plan.ok());
  const auto& record = plan.records().edge_selections.at(edge_into(plan, input));
  CHECK(record.edge.value == edge_into(plan, input));
  return record;
}

/// "basis seconds" of the edge into join.imu.
std::string horizon_of(const TestGraph& graph, Horizons basis,
                       std::string_view input = "join.imu") {
  const ExecutionPlan plan = graph.compile();
  INFO(graph.diagnostics());
  REQUIRE(plan.ok());
  const auto& record = plan.accumulation_horizons()[edge_into(plan, input)];
  CHECK(record.basis == basis);
  return record.seconds ? record.seconds->to_string() : "none";
}

std::uint32_t depth_of(const TestGraph& graph, std::string_view input = "join.imu") {
  const ExecutionPlan plan = graph.compile();
  INFO(graph.diagnostics());
  REQUIRE(plan.ok());
  return plan.payload_edges()[edge_into(plan, input)].queue_depth;
}

TEST_CASE("inputs that trigger take the sample that does, and say so without being asked") {
  TestGraph graph = beside(each_camera(), drain());
  const EdgeSelectionRecord camera = selection_of(graph, "join.camera");
  CHECK(camera.selector == Selecting::kExact);
  CHECK(camera.origin == TemporalRecordOrigin::kCoreSynthesized);
  CHECK(camera.triggering);
  CHECK_FALSE(camera.missing.has_value());
  CHECK(camera.max_selected_samples == 1);
  CHECK(camera.cardinality == SelectionCardinality::kOne);
  CHECK(camera.cache_capacity == 0);
  CHECK(camera.reference_clock == ClockId{0});
  graph.select("join.camera", {.missing = Missing::kFail});
  CHECK(selection_of(graph, "join.camera").origin == TemporalRecordOrigin::kAuthored);
  CHECK_FALSE(selection_of(graph, "join.camera").missing.has_value());
}

TEST_CASE("inputs with a fresh sample in each activation are listed") {
  const auto guaranteed = [](TestGraph graph) {
    const ExecutionPlan plan = graph.compile();
    INFO(graph.diagnostics());
    REQUIRE(plan.ok());
    return find_op(plan, "join").trigger.presence_guaranteed_inputs;
  };
  using Inputs = std::vector<std::uint32_t>;
  CHECK(guaranteed(beside(each_camera(), drain())) == Inputs{0});
  CHECK(guaranteed(beside(camera_window(), drain())) == Inputs{0});
  TestGraph aligned = beside({.kind = Kind::kAligned, .inputs = {1, 0}, .window_ns = 5}, {});
  CHECK(guaranteed(aligned) == Inputs{0, 1});
  TestGraph any =
      beside({.kind = Kind::kAnyInput, .inputs = {0, 1}}, {.missing = Missing::kAbsent});
  CHECK(guaranteed(any).empty());
  TestGraph single;
  single.source("camera").op("join", {"camera"}, {}).flow("camera.out", "join.camera");
  CHECK(guaranteed(single) == Inputs{0});
  TestGraph ticking = beside({.kind = Kind::kClock, .period_ns = 5}, drain());
  ticking.select("join.camera", latest());
  CHECK(guaranteed(ticking).empty());
}

TEST_CASE("OnAnyInput may replace what an input did not bring") {
  TestGraph graph = beside({.kind = Kind::kAnyInput, .inputs = {0, 1}},
                           {.missing = Missing::kReuseLast, .max_reuses = 9});
  const EdgeSelectionRecord imu = selection_of(graph, "join.imu");
  CHECK(imu.missing == Missing::kReuseLast);
  CHECK(imu.max_reuses == 9);
  CHECK(imu.reuse_cache == 1);
  CHECK(imu.cache_capacity == 1);
  CHECK_FALSE(selection_of(graph, "join.camera").missing.has_value());
}

TEST_CASE("what is held outside the queue is counted for each selector, policy and open window") {
  const auto caches = [](TestGraph graph, std::string_view input = "join.imu") {
    const EdgeSelectionRecord record = selection_of(graph, input);
    CHECK(record.cache_capacity ==
          record.selector_cache + record.reuse_cache + record.pending_cache);
    return std::vector{record.selector_cache, record.reuse_cache, record.pending_cache};
  };
  using Caches = std::vector<std::uint32_t>;
  CHECK(caches(beside(each_camera(), {.selector = Selecting::kExact})) == Caches{0, 0, 0});
  CHECK(caches(beside(each_camera(), latest())) == Caches{1, 0, 0});
  CHECK(caches(beside(each_camera(), drain())) == Caches{40, 0, 0});
  CHECK(caches(beside(each_camera(), bracket())) == Caches{13, 0, 0});
  InputSelectionSnapshot reused = drain();
  reused.missing = Missing::kReuseLast;
  reused.max_reuses = 2;
  CHECK(caches(beside(each_camera(), reused)) == Caches{40, 40, 0});
  CHECK(caches(beside(camera_window(), bracket(5)), "join.camera") == Caches{0, 0, 3});
}

TEST_CASE("limits are accepted at their values") {
  InputSelectionSnapshot most = drain();
  most.max_samples = kMaximumSelectedSamples;
  most.missing = Missing::kReuseLast;
  most.max_reuses = kMaximumReuses;
  CHECK(selection_of(beside(each_camera(), most), "join.imu").cache_capacity == 131'072);
  const std::int64_t year = kMaximumContractDuration.count();
  TestGraph longest = beside({.kind = Kind::kWindow,
                              .inputs = {0},
                              .max_wait_ns = year,
                              .max_pending_windows = kMaximumPendingWindows,
                              .max_start_delay_ns = year},
                             {.selector = Selecting::kBracketedWindow,
                              .lookbehind_ns = year,
                              .lookahead_ns = year,
                              .max_samples = kMaximumSelectedSamples});
  CHECK(selection_of(longest, "join.camera").pending_cache == kMaximumPendingWindows);
  InputSelectionSnapshot oldest = latest();
  oldest.max_age_ns = year;
  CHECK(selection_of(beside({.kind = Kind::kClock, .period_ns = year, .phase_ns = year}, oldest)
                         .select("join.camera", latest()),
                     "join.imu")
            .max_age_ns == year);
  CHECK(selection_of(beside(each_camera(), {.selector = Selecting::kLatestWithin, .max_age_ns = 1}),
                     "join.imu")
            .max_age_ns == 1);
}

TEST_CASE("an age that is not known is absent, and reported where its parameter is refused") {
  TestGraph graph =
      beside(each_camera(), {.selector = Selecting::kLatestWithin, .max_age_parameter = "age"});
  const EdgeSelectionRecord record = selection_of(graph, "join.imu");
  CHECK_FALSE(record.max_age_ns.has_value());
  CHECK(record.max_age_parameter == "age");
}

TEST_CASE("a window waits on the clock that it names, and measures on the default one") {
  TestGraph graph = beside(camera_window(), drain());
  const auto factory = graph.snapshot().clocks.front().factory;
  graph.snapshot().clocks.push_back({"a-wall", factory, true});
  graph.snapshot().clocks.push_back({"manual", factory, false});
  graph.vertex("join").contract.wait_clock = "a-wall";
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const auto& trigger = find_op(plan, "join").trigger;
  CHECK(plan.records().clocks[trigger.clock.value].name == "a-wall");
  CHECK(plan.records().clocks[trigger.reference_clock.value].name == "clock");
  CHECK(trigger.bounded_state_capacity == 3);
}

TEST_CASE("an absolute phase may lie anywhere") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  graph.trigger("a", {.kind = Kind::kClock,
                      .period_ns = 5,
                      .phase_ns = std::numeric_limits<std::int64_t>::min(),
                      .phase_origin = ClockPhaseOrigin::kExplicitAbsolute});
  CHECK(graph.compile().ok());
}

TEST_CASE("sources are in the plan with their clocks and what they can hold") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  const auto factory = graph.snapshot().clocks.front().factory;
  graph.snapshot().clocks.push_back({"a-wall", factory, false});
  graph.readiness("a", {{.name = "bell", .capacity = 7, .sender_reference_capacity = 2}, "a-wall"});
  graph.trigger("a", {.kind = Kind::kNotified, .complete_after_computes = 5});
  const ExecutionPlan plan = graph.compile();
  INFO(graph.diagnostics());
  REQUIRE(plan.ok());
  const OperatorPlanRecord& op = find_op(plan, "a");
  REQUIRE(op.sources.size() == 1);
  CHECK(plan.records().clocks[op.sources[0].clock.value].name == "a-wall");
  CHECK(op.trigger.bounded_state_capacity == 7);
  CHECK(op.trigger.complete_after_computes == 5U);
}

TEST_CASE("1 kHz drained at 60 Hz is 34 entries, 26 at a headroom of 3/2, and 40 over 20 ms") {
  for (const bool by_clock : {false, true}) {
    TestGraph graph = by_clock ? beside({.kind = Kind::kClock, .period_ns = kFrameNs}, drain())
                               : beside(each_camera(), drain());
    if (by_clock) graph.select("join.camera", latest());
    graph.nominal("camera.out", Rate::hz(60)).nominal("imu.out", Rate::hz(1'000));
    CHECK(depth_of(graph) == 34);
    graph.options.automatic_queue_sizing.headroom_ratio = {3, 2};
    CHECK(depth_of(graph) == 26);
    graph.options = TestGraph().options;
    if (by_clock) {
      graph.vertex("join").trigger->period_ns = 20'000'000;
    } else {
      graph.nominal("camera.out", Rate::hz(50));
    }
    CHECK(depth_of(graph) == 40);
  }
}

TEST_CASE("samples pile up for as long as trigger and selector let them") {
  const auto at_60 = [](TestGraph graph) { return graph.nominal("camera.out", Rate::hz(60)); };
  CHECK(horizon_of(at_60(beside(each_camera(), drain())), Horizons::kActivationPeriod) == "1/60");
  CHECK(horizon_of(at_60(beside(each_camera(), {.selector = Selecting::kExact})),
                   Horizons::kActivationPeriod) == "1/60");
  CHECK(horizon_of(at_60(beside(each_camera(), latest())), Horizons::kNone) == "none");
  CHECK(horizon_of(at_60(beside(each_camera(), bracket())), Horizons::kBracket) == "1/125");
  CHECK(horizon_of(at_60(beside(camera_window(), bracket(2'000'000))), Horizons::kBracket) ==
        "7/500");
  CHECK(horizon_of(at_60(beside(camera_window(), drain())), Horizons::kActivationPeriod) ==
        "31/1500");
  CHECK(horizon_of(at_60(beside(camera_window(), drain())), Horizons::kWindowWait, "join.camera") ==
        "1/250");
  CHECK(horizon_of(beside(each_camera(), drain()), Horizons::kPartnerUnknown) == "none");
  TestGraph selectable = beside(each_camera(), drain());
  selectable.selectable("camera.out", Rate::hz(60), Rate::hz(120));
  CHECK(horizon_of(selectable, Horizons::kPartnerSelectable) == "none");
  TestGraph notified = beside({.kind = Kind::kNotified}, drain());
  notified.readiness("join", {{.name = "bell"}, {}}).select("join.camera", latest());
  CHECK(horizon_of(at_60(notified), Horizons::kNone) == "none");
  TestGraph stated = at_60(beside(each_camera(), drain()));
  stated.accumulates("join.imu", Horizon::milliseconds(20));
  CHECK(horizon_of(stated, Horizons::kDeclared) == "1/50");
}

TEST_CASE("beside an aligned pair, samples pile up for the slower one's period and the window") {
  TestGraph graph;
  graph.source("a").source("b").source("imu").op("join", {"a", "b", "imu"}, {});
  graph.flow("a.out", "join.a").flow("b.out", "join.b").flow("imu.out", "join.imu");
  graph.trigger("join", {.kind = Kind::kAligned, .inputs = {0, 1}, .window_ns = 10'000'000});
  graph.select("join.imu", drain());
  graph.nominal("a.out", Rate::hz(30)).nominal("b.out", Rate::hz(60));
  CHECK(horizon_of(graph, Horizons::kActivationPeriod) == "13/300");
}

TEST_CASE("a blocking queue keeps room beside the sample that a selector leaves in it") {
  const auto floor_of = [](TestGraph graph) {
    const ExecutionPlan plan = graph.compile();
    INFO(graph.diagnostics());
    REQUIRE(plan.ok());
    return plan.queue_sizing_recipes()[edge_into(plan, "join.imu")].hard_floor;
  };
  CHECK(floor_of(beside(each_camera(), latest())) == 2);
  CHECK(floor_of(beside(each_camera(), {.selector = Selecting::kExact})) == 2);
  CHECK(floor_of(beside(each_camera(), bracket())) == 2);
  CHECK(floor_of(beside(each_camera(), drain())) == 1);
  CHECK(floor_of(beside(each_camera(), latest(), {.queue_policy = QueuePolicy::kDropOldest})) == 1);
  TestGraph burst = beside(each_camera(), latest());
  burst.output("imu.out").max_emits_per_compute = 5;
  CHECK(floor_of(burst) == 6);
  const ExecutionPlan plan = burst.compile();
  std::vector<HardFloorReason> reasons;
  for (const auto& each : plan.hard_floor_contributors()) {
    if (each.edge.value == edge_into(plan, "join.imu")) reasons.push_back(each.reason);
  }
  CHECK(reasons == std::vector{HardFloorReason::kMinimumQueue, HardFloorReason::kProducerBurst,
                               HardFloorReason::kSelectorRetention});
  TestGraph window = beside(camera_window(), bracket(5));
  const ExecutionPlan windowed = window.compile();
  CHECK(windowed.hard_floor_contributors().back().reason == HardFloorReason::kWindowRetention);
}

TEST_CASE("a given depth below that room is an error that says what stays") {
  TestGraph graph = beside(each_camera(), latest(), {.queue_depth = 1});
  CHECK(graph.diagnostics() ==
        "error QUEUE_DEPTH_BELOW_FLOOR at imu.out -> join.imu: a queue of depth 1 can't hold the 2 "
        "samples that one activation may emit and the one that the selector leaves there. Fix: "
        "give ConnectionOptions::queue_depth 2 or more, or leave it out\n");
  CHECK(beside(each_camera(), latest(), {.queue_depth = 2}).compile().ok());
}

TEST_CASE("a pool has slots for all that is held beside a queue, and says why") {
  const auto pool_of = [](TemporalTriggerPlanRecord trigger, InputSelectionSnapshot selection) {
    TestGraph graph = beside(std::move(trigger), std::move(selection), {.queue_depth = 5});
    graph.tensor_output("imu.out", pool_in(MemoryKind::kHost)).tensor_input("join.imu");
    const ExecutionPlan plan = graph.compile();
    INFO(graph.diagnostics());
    REQUIRE(plan.ok());
    return plan.tensor_allocations()[0];
  };
  const auto reasons = [](std::initializer_list<Reason> more) {
    std::vector list{Reason::kAcceptedPublication, Reason::kFrameworkBorrow};
    for (const Reason each : more) list.push_back(each);
    return list;
  };
  constexpr std::uint32_t kQueueAndHands = 1 + 5 + 1;
  auto pool = pool_of(each_camera(), latest());
  CHECK(pool.slot_count == kQueueAndHands + 1);
  CHECK(pool.contributors[1].reasons == reasons({Reason::kTemporalCache}));
  CHECK(pool.contributors[1].maximum_distinct_slots == 5 + 1 + 1);
  pool = pool_of(each_camera(), drain());
  CHECK(pool.slot_count == kQueueAndHands + 40);
  CHECK(pool.contributors[1].reasons == reasons({Reason::kDrainAll}));
  pool = pool_of(camera_window(), bracket(5));
  CHECK(pool.slot_count == kQueueAndHands + 13);
  CHECK(pool.contributors[1].reasons == reasons({Reason::kWindow}));
  InputSelectionSnapshot reused = latest();
  reused.missing = Missing::kReuseLast;
  reused.max_reuses = 1;
  pool = pool_of(each_camera(), reused);
  CHECK(pool.slot_count == kQueueAndHands + 2);
  CHECK(pool.contributors[1].reasons == reasons({Reason::kTemporalCache, Reason::kReuseLast}));
}

TEST_CASE("a pool has slots for the anchors of open windows, and queues get no deeper for it") {
  TestGraph graph = beside(camera_window(), drain());
  graph.tensor_output("camera.out", pool_in(MemoryKind::kHost)).tensor_input("join.camera");
  const ExecutionPlan plan = graph.compile();
  INFO(graph.diagnostics());
  REQUIRE(plan.ok());
  CHECK(plan.tensor_allocations()[0].slot_count == 1 + 4 + 1 + 3);
  CHECK(plan.tensor_allocations()[0].contributors[1].reasons ==
        std::vector{Reason::kAcceptedPublication, Reason::kFrameworkBorrow, Reason::kWindow});
  CHECK(depth_of(graph, "join.camera") == 4);
}

TEST_CASE("an operator with a trigger of its own starts a lane, whatever leads to it") {
  const auto decision_of = [](TemporalTriggerPlanRecord trigger) {
    TestGraph graph;
    graph.source("imu").op("pace", {"imu"}, {}).flow("imu.out", "pace.imu");
    if (trigger.kind == Kind::kDoorbell) {
      graph.readiness("pace", {{.name = "door", .kind = ReadinessSourceKind::kDoorbell}, {}});
    }
    if (trigger.kind != Kind::kEach) graph.select("pace.imu", drain());
    const ExecutionPlan plan = graph.trigger("pace", std::move(trigger)).compile();
    INFO(graph.diagnostics());
    REQUIRE(plan.ok());
    return plan.records().partition_decisions[find_op(plan, "pace").id.value].kind;
  };
  CHECK(decision_of(each_camera()) == PartitionDecisionKind::kJoin);
  CHECK(decision_of({.kind = Kind::kClock, .period_ns = 5}) == PartitionDecisionKind::kStart);
  CHECK(decision_of({.kind = Kind::kDoorbell}) == PartitionDecisionKind::kStart);
}

TEST_CASE("contracts of 10,000 operators are resolved in one go") {
  TestGraph graph;
  graph.source("n100000");
  auto& snapshot = graph.snapshot();
  for (std::uint32_t i = 1; i < 10'000; ++i) {
    VertexSnapshot relay;
    relay.path = "n" + std::to_string(100'000 + i);
    relay.inputs = {{.name = "x", .payload = payload_identity<std::uint32_t>()},
                    {.name = "y", .payload = payload_identity<std::uint32_t>()}};
    relay.outputs = {{.name = "out", .payload = payload_identity<std::uint32_t>()}};
    relay.trigger = each_camera();
    relay.contract.selections = {latest()};
    relay.contract.selections[0].input = 1;
    snapshot.vertices.push_back(std::move(relay));
    snapshot.flows.push_back({{VertexId{i - 1}, 0}, {VertexId{i}, 0}, {}});
    snapshot.flows.push_back({{VertexId{i - 1}, 0}, {VertexId{i}, 1}, {}});
  }
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.records().edge_selections.size() == 19'998);
  CHECK(plan.records().edge_selections.back().selector == Selecting::kLatestWithin);
}

}  // namespace
}  // namespace weftline
