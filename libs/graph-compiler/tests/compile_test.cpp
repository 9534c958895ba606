// SPDX-License-Identifier: Apache-2.0
//
// From a graph composed in C++ to its plan, and graphs made to do harm.

#include "weftline/compile/compile.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "test_graph.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

constexpr TensorOutputSpec kFrame{
    .representation = {.memory_kind = MemoryKind::kHost, .dtype = kUInt8, .rank = 2},
    .bounds = {.max_rank = std::nullopt, .max_byte_span = 640 * 480},
    .storage = TensorOutputStorage::kRuntimePool};

struct Camera final : Operator<> {
  Output<Tensor> frames;
  void setup(OperatorSpec& spec) override { spec.output(frames, "frames").produces_tensor(kFrame); }
  Contract contract() const override {
    return Contract().trigger(OnClock{.period = std::chrono::milliseconds(100)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

struct Detect final : Operator<> {
  Input<Tensor> frames;
  Output<std::uint32_t> boxes;
  void setup(OperatorSpec& spec) override {
    spec.input(frames, "frames").expects_tensor({.representation = kFrame.representation});
    spec.output(boxes, "boxes");
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

struct Show final : Operator<> {
  Input<Tensor> frames;
  Input<std::uint32_t> boxes;
  void setup(OperatorSpec& spec) override {
    spec.input(frames, "frames");
    spec.input(boxes, "boxes");
  }
  Contract contract() const override {
    return Contract().trigger(OnAligned{.inputs = {frames, boxes}});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

void compose(Graph& graph) {
  auto camera = graph.op<Camera>("camera");
  auto detect = graph.op<Detect>("detect");
  auto show = graph.op<Show>("show");
  graph.add_flow(camera->frames, detect->frames, {.queue_depth = 2});
  graph.add_flow(camera->frames, show->frames);
  graph.add_flow(detect->boxes, show->boxes);
  auto events = graph.export_topic<std::uint32_t>("weftline://watch/boxes");
  graph.add_flow(detect->boxes, events.input());
  graph.partition("capture").add(camera);
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
}

TEST_CASE("a composed graph becomes a plan that outlives it") {
  ExecutionPlan plan = [] {
    Graph graph("watch");
    compose(graph);
    return compile(graph);
  }();
  INFO(format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  plan.require_no_errors();
  CHECK(plan.operators().size() == 3);
  CHECK(find_op(plan, "camera").trigger.period_ns == 100'000'000);
  CHECK(find_op(plan, "show").trigger.kind == TemporalRecordTriggerKind::kAligned);
  CHECK(plan.execution_partitions()[0].name == "capture");
  CHECK(plan.tensor_allocations()[0].slot_count == 1 + 4 + 1);
  CHECK(plan.endpoint_catalog().find("watch.boxes") != nullptr);
  CHECK(plan.operator_factory(find_op(plan, "camera").id)() != nullptr);
  CHECK(plan_json(plan.records()) == plan.json());
}

TEST_CASE("a rejected graph keeps its plan, and insisting on it throws what is wrong") {
  Graph graph("broken");
  graph.op<Detect>("detect");
  const ExecutionPlan plan = compile(graph);
  CHECK_FALSE(plan.ok());
  CHECK(plan.operators().size() == 1);
  try {
    plan.require_no_errors();
    FAIL("require_no_errors() returned");
  } catch (const CompileError& error) {
    const std::string what = error.what();
    CHECK(what.find("GRAPH_INPUT_UNCONNECTED at detect.frames") != std::string::npos);
    CHECK(what.find("RUNTIME_CLOCK_BINDING_UNAVAILABLE") != std::string::npos);
  }
}

TEST_CASE("an empty graph with a clock is a plan of nothing") {
  TestGraph graph;
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.operators().empty());
  CHECK(plan.execution_partitions().empty());
}

/// "n100000", "n100001", …, each fed by the one before.
TestGraph chain(std::uint32_t length) {
  TestGraph graph;
  auto& snapshot = graph.snapshot();
  graph.source("n100000").sink("unused");
  const VertexSnapshot head = snapshot.vertices[0];
  snapshot.vertices.pop_back();
  for (std::uint32_t i = 1; i < length; ++i) {
    VertexSnapshot vertex = head;
    vertex.path = "n" + std::to_string(100'000 + i);
    vertex.trigger.reset();
    vertex.inputs = {{.name = "in", .payload = payload_identity<std::uint32_t>()}};
    snapshot.vertices.push_back(std::move(vertex));
    snapshot.flows.push_back({{VertexId{i - 1}, 0}, {VertexId{i}, 0}, {}});
  }
  return graph;
}

TEST_CASE("a chain of 1,000 operators is one lane") {
  const ExecutionPlan plan = chain(1'000).compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.execution_partitions().size() == 1);
  CHECK(plan.execution_partitions()[0].members.size() == 1'000);
}

TEST_CASE("a loop of 10,000 operators is reported in one short line") {
  constexpr std::uint32_t kLength = 10'000;
  TestGraph graph = chain(kLength);
  auto& head = graph.snapshot().vertices.front();
  head.inputs = {{.name = "in", .payload = payload_identity<std::uint32_t>()}};
  head.trigger.reset();
  graph.snapshot().flows.push_back({{VertexId{kLength - 1}, 0}, {VertexId{0}, 0}, {}});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.diagnostics().size() == 1);
  CHECK(format_diagnostic(plan.diagnostics()[0]) ==
        "error GRAPH_CYCLE at n100000: flows lead in a loop of 10000 operators: n100000 -> "
        "n100001 -> n100002 -> n100003 -> n100004 -> n100005 -> n100006 -> n100007 -> … (9992 "
        "more) -> n100000. Fix: take out one of these flows");
}

TEST_CASE("names of 64 KiB and of any bytes make a plan that prints") {
  const std::string huge(65'536, '\xff');
  TestGraph graph(huge);
  graph.source("a").sink("b").flow("a.out", "b.in").place("a", huge).topic(huge, {"a.out"});
  graph.output("a.out").name = huge;
  graph.vertex("b").path = huge;
  graph.vertex("a").type_id = "\x1b[2J\n\"";
  graph.bind(huge, huge, kEmulated0);
  const ExecutionPlan plan = graph.compile();
  CHECK_FALSE(plan.ok());
  for (const Diagnostic& diagnostic : plan.diagnostics()) {
    CHECK(diagnostic.message.size() <= 4'096);
    CHECK(diagnostic.place.size() <= 4'096);
  }
  CHECK(parse_json(plan.json()).has_value());
  CHECK(format_diagnostics(plan.diagnostics()).size() <= 16'384);
  const std::string page = render_plan(plan.records());
  CHECK(page.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace weftline
