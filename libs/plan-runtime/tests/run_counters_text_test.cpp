// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/run_counters_text.hpp"

#include <catch2/catch_test_macros.hpp>

#include "arm_numbers.hpp"
#include "slot_holders.hpp"
#include "weftline/core/json.hpp"
#include "weftline/runtime/run_trace.hpp"

namespace weftline {
namespace {

/// camera.out goes to detect.in and record.in; detect passes its tensor on to show.in.
PlanRecords camera_plan() {
  PlanRecords plan;
  const auto add = [&](std::string path, bool input, bool output) {
    OperatorPlanRecord op;
    op.id = VertexId{static_cast<std::uint32_t>(plan.operators.size())};
    op.path = std::move(path);
    op.partition = PartitionId{0};
    if (input) op.inputs.push_back({.name = "in"});
    if (output) op.outputs.push_back({.name = "out"});
    plan.operators.push_back(std::move(op));
  };
  add("camera", false, true);
  add("detect", true, true);
  add("record", true, false);
  add("show", true, false);
  const auto flow = [&](std::uint32_t from, std::uint32_t to) {
    PayloadEdgePlanRecord edge;
    edge.edge = EdgeId{static_cast<std::uint32_t>(plan.payload_edges.size())};
    edge.source = {VertexId{from}, 0};
    edge.target = {VertexId{to}, 0};
    edge.queue_depth = 4;
    plan.payload_edges.push_back(edge);
  };
  flow(1, 3);
  flow(0, 2);
  flow(0, 1);
  plan.execution_partitions.push_back({.id = PartitionId{0}, .name = "main"});
  TensorAllocationPlanRecord pool;
  pool.id = PoolId{0};
  pool.output = {VertexId{0}, 0};
  plan.tensor_allocations.push_back(pool);
  return plan;
}

RunCounters counters_of(const PlanRecords& plan) {
  RunCounters counters;
  counters.read_at.timestamp_ns = 5'000'000;
  for (const auto& op : plan.operators) counters.operators.push_back({.vertex = op.id});
  counters.operators[0].activations = 1'234;
  counters.operators[3].finished = true;
  for (const auto& edge : plan.payload_edges) counters.edges.push_back({.edge = edge.edge});
  counters.edges[1].dropped = 77;
  counters.pools.push_back({.pool = PoolId{0}});
  counters.pools[0].usage.slot_count = 6;
  counters.pools[0].held = {
      {.slot = 2,
       .handles = 1,
       .holders = {{.place = SlotPlace::kConsumer, .name = "detect", .since_ns = 3'500'000}}}};
  counters.lanes.push_back({.partition = PartitionId{0}, .parks = 9});
  return counters;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("counters are tables by names, and slots say who has them and for how long") {
  const PlanRecords plan = camera_plan();
  RunCounters counters = counters_of(plan);
  std::string text = render_run_counters(plan, counters);
  INFO(text);
  CHECK(contains(text, "camera           "));
  CHECK(contains(text, "1234"));
  CHECK(contains(text, "show (finished)"));
  CHECK(contains(text, "camera.out -> record.in       0       77    0/4     0"));
  CHECK(contains(text, "  slot 2: 1 handle; consumer detect, 1.5 ms\n"));
  CHECK_FALSE(contains(text, "p99"));
  CHECK_FALSE(contains(text, "import"));
  CHECK_FALSE(contains(text, "by contract"));

  counters.operators[1].late_starts = 12;
  counters.operators[1].passed_over = 345;
  CHECK(contains(render_run_counters(plan, counters),
                 "by contract  skipped  late  timed out  passed over  reused\n"
                 "detect             0    12          0          345       0\n\n"));
  CHECK_FALSE(contains(text, "restarts"));

  counters.restarts = {.committed = 3, .rejected = 2, .last_duration_ns = 1'500'000};
  text = render_run_counters(plan, counters);
  INFO(text);
  CHECK(contains(text,
                 "restarts  rolled back  failed  rejected  taken along  last took\n"
                 "3                   0       0         2            0     1.5 ms\n"));

  for (auto& op : counters.operators) op.compute.emplace();
  counters.operators[1].compute = LatencySummary{.count = 3, .p50_ns = 950, .max_ns = 12'000'000};
  for (auto& edge : counters.edges) edge.latency.emplace();
  counters.paths.push_back({VertexId{0}, VertexId{3}, {.count = 3, .p99_ns = 2'345}});
  text = render_run_counters(plan, counters);
  INFO(text);
  CHECK(contains(text, "p99.9"));
  CHECK(contains(text, "950 ns"));
  CHECK(contains(text, "12 ms"));
  CHECK(contains(text, "camera -> show"));
  CHECK(contains(text, "2.35 us"));
}

TEST_CASE("counters are canonical JSON by names, and null where nobody kept latencies") {
  const PlanRecords plan = camera_plan();
  RunCounters counters = counters_of(plan);
  counters.edges[0].latency = LatencySummary{.count = 2, .p50_ns = 10};
  counters.operators[2].reused = 8;
  counters.restarts.rolled_back = 5;
  const std::string text = run_counters_json(plan, counters);
  const auto parsed = parse_json(text);
  REQUIRE(parsed.has_value());
  CHECK(parsed->dump() == text);
  CHECK(*parsed->find("schema")->as_string() == kRunCountersSchema);
  const auto& edges = *parsed->find("edges")->as_array();
  REQUIRE(edges.size() == 3);
  CHECK(*edges[0].find("latency")->find("p50_ns")->as_uint() == 10);
  CHECK(edges[1].find("latency")->is_null());
  CHECK(*edges[1].find("dropped")->as_uint() == 77);
  CHECK(*edges[1].find("target")->as_string() == "record.in");
  const auto& operators = *parsed->find("operators")->as_array();
  CHECK(*operators.at(2).find("reused")->as_uint() == 8);
  CHECK(*operators.at(2).find("skipped")->as_uint() == 0);
  CHECK(*parsed->find("restarts")->find("rolled_back")->as_uint() == 5);
  const auto& held = *parsed->find("pools")->as_array()->at(0).find("held")->as_array();
  CHECK(*held.at(0).find("holders")->as_array()->at(0).find("place")->as_string() == "consumer");
}

TEST_CASE("the edges of one output are neighbours by their arms") {
  const PlanRecords plan = camera_plan();
  const runtime::ArmNumbers arms(plan);
  const auto camera = arms.arms_of(plan, {VertexId{0}, 0});
  CHECK(camera.count == 2);
  CHECK(arms.edge_of(camera.first) == 1);
  CHECK(arms.edge_of(camera.first + 1) == 2);
  CHECK(arms.arms_of(plan, {VertexId{1}, 0}).count == 1);
  CHECK(arms.arms_of(plan, {VertexId{3}, 0}).count == 0);
  for (std::size_t edge = 0; edge < 3; ++edge) CHECK(arms.edge_of(arms.arm_of(edge)) == edge);
}

TEST_CASE("holders have the names of operators and edges") {
  const PlanRecords plan = camera_plan();
  const runtime::ArmNumbers arms(plan);
  const PortRef camera{VertexId{0}, 0};
  const std::uint32_t first = arms.arms_of(plan, camera).first;
  const std::uint32_t passed_on = arms.arm_of(0);
  HeldSlot published{.slot = 1, .state = HeldSlot::State::kPublished, .handles = 2};
  published.arms = {{.arm = first, .taken = false, .since_ns = 10},
                    {.arm = passed_on, .taken = true, .since_ns = 20}};
  const HeldSlot loaned{.slot = 2, .state = HeldSlot::State::kLoaned, .handles = 1, .loaned_ns = 7};
  const auto named = runtime::name_holders(plan, arms, camera, {published, loaned});
  REQUIRE(named.size() == 2);
  REQUIRE(named[0].holders.size() == 2);
  CHECK(named[0].holders[0].place == SlotPlace::kQueue);
  CHECK(named[0].holders[0].name == "camera.out -> record.in");
  CHECK(named[0].holders[1].place == SlotPlace::kConsumer);
  CHECK(named[0].holders[1].name == "show");
  CHECK(named[0].holders[1].since_ns == 20);
  REQUIRE(named[1].holders.size() == 1);
  CHECK(named[1].holders[0].place == SlotPlace::kProducer);
  CHECK(named[1].holders[0].name == "camera");
  CHECK(named[1].holders[0].since_ns == 7);
}

TEST_CASE("a trace is JSON with a track for each lane, and an arrow for each sample") {
  const PlanRecords plan = camera_plan();
  RunTrace trace;
  trace.lanes.push_back({.partition = PartitionId{0}, .overwritten = 4});
  const auto add = [&](TraceEventKind kind, std::uint32_t vertex, std::int64_t begin,
                       std::int64_t end, std::uint64_t value) {
    trace.lanes[0].events.push_back({.kind = kind,
                                     .vertex = VertexId{vertex},
                                     .begin_ns = begin,
                                     .end_ns = end,
                                     .value = value});
  };
  add(TraceEventKind::kEmit, 0, 1'050, 1'050, 8);
  add(TraceEventKind::kActivation, 0, 1'000, 2'001, 0);
  add(TraceEventKind::kReceive, 1, 2'100, 2'100, 8);
  add(TraceEventKind::kActivation, 1, 2'100, 2'200, 0);
  add(TraceEventKind::kPark, VertexId::kInvalid, 2'300, 9'000, 1);
  add(TraceEventKind::kStand, VertexId::kInvalid, 9'000, 9'500, 0);
  add(TraceEventKind::kParams, 1, 9'600, 9'600, 12);
  trace.controller.events = {
      {.kind = TraceEventKind::kStage,
       .vertex = VertexId{1},
       .begin_ns = 9'100,
       .end_ns = 9'200,
       .value = static_cast<std::uint64_t>(LifecycleStage::kAllocate)},
      {.kind = TraceEventKind::kRestart,
       .vertex = VertexId{1},
       .begin_ns = 9'000,
       .end_ns = 9'400,
       .value = static_cast<std::uint64_t>(LifecycleTransactionState::kRolledBack)}};
  trace.controller.overwritten = 6;
  const std::string text = chrome_trace_json(plan, trace);
  const auto parsed = parse_json(text, {.decimals = true});
  INFO(text);
  REQUIRE(parsed.has_value());
  std::size_t starts = 0;
  std::size_t ends = 0;
  for (const JsonValue& event : *parsed->find("traceEvents")->as_array()) {
    const std::string& phase = *event.find("ph")->as_string();
    starts += phase == "s" ? 1 : 0;
    ends += phase == "f" ? 1 : 0;
  }
  CHECK(starts == 2);  // to both edges of camera.out
  CHECK(ends == 1);
  CHECK(contains(text, "\"name\":\"camera\",\"cat\":\"activation\",\"ts\":1.000,\"dur\":1.001"));
  CHECK(contains(text, "\"name\":\"parked, woken\""));
  CHECK(contains(text, "\"name\":\"lane main\""));
  CHECK(contains(text, "\"tid\":1,\"name\":\"stood still\",\"cat\":\"restart\""));
  CHECK(contains(text,
                 "\"name\":\"parameters of detect\",\"cat\":\"parameters\",\"ts\":9.600,"
                 "\"s\":\"t\",\"args\":{\"generation\":12}"));
  CHECK(contains(text, "\"tid\":2,\"name\":\"detect.allocate\",\"cat\":\"stage\""));
  CHECK(contains(text, "\"tid\":2,\"name\":\"restart detect: rolled_back\",\"cat\":\"restart\""));
  CHECK(*parsed->find("otherData")->find("overwritten")->find("(controller)")->as_uint() == 6);
  CHECK(*parsed->find("otherData")->find("overwritten")->find("main")->as_uint() == 4);
  CHECK(parse_json(chrome_trace_json(plan, {})).has_value());
}

}  // namespace weftline
