// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/graph.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <optional>

#include "thrown_token.hpp"

using namespace weftline;

namespace {

struct Gain {
  std::uint32_t factor{3};
  double offset{0.5};
  bool inverted{false};
};

WEFTLINE_PARAM_SCHEMA(Gain, weftline::param_schema("com.example.Gain", 2),
                      weftline::field<&Gain::factor>("factor"),
                      weftline::field<&Gain::offset>("offset"),
                      weftline::field<&Gain::inverted>("inverted"));

class Source final : public Operator<> {
 public:
  static constexpr std::string_view kTypeId = "test.Source";
  static constexpr std::uint32_t kTypeVersion = 4;
  explicit Source(int number = 0) : number_(number) {}
  Output<std::uint32_t> numbers;
  Output<Tensor> frames;
  void setup(OperatorSpec& spec) override {
    spec.output(numbers, "numbers").nominal_rate(Rate::hz(60)).max_emits_per_compute(2);
    spec.output(frames, "frames");
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::milliseconds(5)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
  int number() const { return number_; }

 private:
  int number_;
};

class Sink final : public Operator<Gain> {
 public:
  Input<std::uint32_t> numbers;
  Input<Tensor> frames;
  void setup(OperatorSpec& spec) override {
    spec.input(numbers, "numbers").expected_rate(Rate::hz(30));
    spec.input(frames, "frames").expects_tensor({.representation = {.rank = 2}});
  }
  Contract contract() const override {
    return Contract().trigger(
        OnAligned{.inputs = {frames, numbers}, .window = std::chrono::nanoseconds(7)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

}  // namespace

TEST_CASE("a snapshot holds what was authored, in authored order, as plain values") {
  Graph graph{"demo"};
  const auto sink = graph.op<Sink>("sink");
  const auto source = graph.op<Source>("source", 9);
  graph.add_flow(source->numbers, sink->numbers,
                 {.queue_depth = 5, .queue_policy = QueuePolicy::kDropOldest});
  graph.add_flow(source->frames, sink->frames);
  graph.partition("camera").add(source);
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clk"));
  sink.set_params({.factor = 8, .offset = 1.0, .inverted = true});

  const GraphSnapshot snapshot = graph.snapshot();
  REQUIRE(snapshot.vertices.size() == 2);
  const auto& first = snapshot.vertices[0];
  const auto& second = snapshot.vertices[1];
  CHECK(first.path == "sink");
  CHECK(second.type_id == "test.Source");
  CHECK(second.type_version == 4);
  CHECK(second.authored_partition == 0U);
  CHECK_FALSE(first.authored_partition);
  REQUIRE(first.params.schema() != nullptr);
  CHECK(first.params.schema()->id() == "com.example.Gain");
  CHECK(static_cast<const Gain*>(first.params.values().get())->factor == 8);
  CHECK(second.params.schema() == nullptr);
  REQUIRE(second.outputs.size() == 2);
  CHECK(second.outputs[0].rate.kind == PortRateKind::kFixedNominal);
  CHECK(second.outputs[0].rate.rate == Rate::hz(60));
  CHECK(second.outputs[0].max_emits_per_compute == 2);
  CHECK(second.trigger->kind == TemporalRecordTriggerKind::kClock);
  CHECK(second.trigger->period_ns == 5'000'000);
  CHECK(first.trigger->kind == TemporalRecordTriggerKind::kAligned);
  CHECK(first.trigger->inputs == std::vector<std::uint32_t>{1, 0});
  CHECK(first.trigger->window_ns == 7);
  REQUIRE(snapshot.flows.size() == 2);
  CHECK(snapshot.flows[0].source == PortRef{VertexId{1}, 0});
  CHECK(snapshot.flows[0].target == PortRef{VertexId{0}, 0});
  CHECK(snapshot.flows[0].options.queue_depth == 5U);
  CHECK(snapshot.default_clock == 0U);
}

TEST_CASE("a factory makes fresh instances with the authored arguments and parameters") {
  std::optional<GraphSnapshot> snapshot;
  {
    Graph graph{"demo"};
    graph.op<Source>("source", 42);
    graph.op<Sink>("sink").set_params({.factor = 11});
    snapshot = graph.snapshot();
  }
  const auto source = snapshot->vertices[0].factory();
  const auto again = snapshot->vertices[0].factory();
  CHECK(source != again);
  CHECK(static_cast<Source&>(*source).number() == 42);
  CHECK(static_cast<Sink&>(*snapshot->vertices[1].factory()).params().factor == 11);
}

TEST_CASE("an authoring mistake throws at the call, names itself, and changes nothing") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto sink = graph.op<Sink>("sink");
  Graph other{"other"};
  const auto stranger = other.op<Source>("source");
  graph.add_flow(source->numbers, sink->numbers);

  CHECK(thrown_token([] { Graph bad{""}; }) == "GRAPH_NAME_INVALID");
  CHECK(thrown_token([&] { graph.op<Source>("with space"); }) == "GRAPH_NAME_INVALID");
  CHECK(thrown_token([&] { graph.op<Source>(std::string(1'000'000, 'x')); }) ==
        "GRAPH_NAME_INVALID");
  CHECK(thrown_token([&] { graph.op<Source>("source"); }) == "GRAPH_NAME_DUPLICATE");
  CHECK(thrown_token([&] { graph.add_flow(source->numbers, sink->numbers); }) ==
        "GRAPH_FLOW_DUPLICATE");
  CHECK(thrown_token([&] { graph.add_flow(stranger->numbers, sink->numbers); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(thrown_token([&] { graph.add_flow(source->frames, sink->frames, {.queue_depth = 0}); }) ==
        "GRAPH_QUEUE_DEPTH_ZERO");
  CHECK(thrown_token([&] { graph.set_default_clock(other.add_clock<RealtimeClock>("clk")); }) ==
        "GRAPH_HANDLE_FOREIGN");
  graph.add_clock<RealtimeClock>("clk");
  CHECK(thrown_token([&] { graph.add_clock<RealtimeClock>("clk"); }) == "GRAPH_NAME_DUPLICATE");
  CHECK(thrown_token([&] { graph.partition("p").add(stranger); }) == "GRAPH_HANDLE_FOREIGN");
  graph.partition("a").add(source);
  CHECK(thrown_token([&] { graph.partition("b").add(source); }) == "GRAPH_PARTITION_CONFLICT");

  const auto snapshot = graph.snapshot();
  CHECK(snapshot.vertices.size() == 2);
  CHECK(snapshot.flows.size() == 1);
}

TEST_CASE("a handle that outlived its graph throws") {
  std::optional<OperatorHandle<Source>> handle;
  {
    Graph graph{"short"};
    handle = graph.op<Source>("source");
  }
  CHECK(thrown_token([&] { static_cast<void>(handle->operator->()); }) == "GRAPH_HANDLE_STALE");
}

TEST_CASE("mistakes in setup and contract throw with the port's name") {
  class SameName final : public Operator<> {
   public:
    Output<std::uint32_t> a, b;
    void setup(OperatorSpec& spec) override {
      spec.output(a, "x");
      spec.output(b, "x");
    }
    expected<void, Error> compute(ExecutionContext&) override { return {}; }
  };
  class Twice final : public Operator<> {
   public:
    Output<std::uint32_t> a;
    void setup(OperatorSpec& spec) override {
      spec.output(a, "x");
      spec.output(a, "y");
    }
    expected<void, Error> compute(ExecutionContext&) override { return {}; }
  };
  class NotATensor final : public Operator<> {
   public:
    Input<std::uint32_t> a;
    void setup(OperatorSpec& spec) override { spec.input(a, "x").expects_tensor({}); }
    expected<void, Error> compute(ExecutionContext&) override { return {}; }
  };
  class NoRate final : public Operator<> {
   public:
    Output<std::uint32_t> a;
    void setup(OperatorSpec& spec) override { spec.output(a, "x").nominal_rate(Rate::hz(0)); }
    expected<void, Error> compute(ExecutionContext&) override { return {}; }
  };
  class ForeignPort final : public Operator<> {
   public:
    Input<std::uint32_t> declared, forgotten;
    void setup(OperatorSpec& spec) override { spec.input(declared, "x"); }
    Contract contract() const override { return Contract().trigger(OnEach{forgotten}); }
    expected<void, Error> compute(ExecutionContext&) override { return {}; }
  };
  Graph graph{"demo"};
  CHECK(thrown_token([&] { graph.op<SameName>("a"); }) == "PORT_NAME_DUPLICATE");
  CHECK(thrown_token([&] { graph.op<Twice>("b"); }) == "PORT_DECLARED_TWICE");
  CHECK(thrown_token([&] { graph.op<NotATensor>("c"); }) == "PORT_NOT_A_TENSOR");
  CHECK(thrown_token([&] { graph.op<NoRate>("d"); }) == "PORT_RATE_INVALID");
  graph.op<ForeignPort>("e");
  CHECK(thrown_token([&] { static_cast<void>(graph.snapshot()); }) == "CONTRACT_INPUT_FOREIGN");
}

/// Declares whatever a test wants to see declared.
class Declares final : public Operator<> {
 public:
  using Declaration = std::function<void(Declares&, OperatorSpec&)>;
  explicit Declares(Declaration declaration) : declaration_(std::move(declaration)) {}
  Input<std::uint32_t> in;
  Output<std::uint32_t> out;
  Output<Tensor> frames;
  void setup(OperatorSpec& spec) override { declaration_(*this, spec); }
  Contract contract() const override { return Contract().accumulates(in, Horizon::seconds(1, 15)); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }

 private:
  Declaration declaration_;
};

TEST_CASE("rates, horizons and kept samples reach the snapshot as they were stated") {
  Graph graph{"demo"};
  graph.op<Declares>("a", [](Declares& op, OperatorSpec& spec) {
    spec.input(op.in, "in").expected_rate(Rate::hz(60)).retains(4);
    spec.output(op.out, "out").follows(op.in, {1, 4}).max_emits_per_compute(3);
    spec.output(op.frames, "frames")
        .lifecycle_nominal_rate(Rate::hz(60))
        .max_nominal_rate(Rate::hz(120));
  });
  const VertexSnapshot vertex = graph.snapshot().vertices.at(0);
  CHECK(vertex.inputs[0].expected_rate == Rate::hz(60));
  CHECK(vertex.inputs[0].accumulates_over == Horizon::seconds(1, 15));
  CHECK(vertex.inputs[0].retained_samples == 4);
  CHECK(vertex.outputs[0].rate.kind == PortRateKind::kFollowsInput);
  CHECK(vertex.outputs[0].rate.follows_input == 0);
  CHECK(vertex.outputs[0].rate.ratio == RateRatio{1, 4});
  CHECK(vertex.outputs[0].max_emits_per_compute == 3);
  CHECK(vertex.outputs[1].rate.kind == PortRateKind::kLifecycleNominal);
  CHECK(vertex.outputs[1].rate.rate == Rate::hz(60));
  CHECK(vertex.outputs[1].rate.maximum == Rate::hz(120));
}

TEST_CASE("a rate that can't be is refused at the call") {
  const auto token_of = [](Declares::Declaration declaration) {
    Graph graph{"demo"};
    return thrown_token([&] { graph.op<Declares>("a", std::move(declaration)); });
  };
  const auto of_output = [&](std::function<void(OutputSpecBuilder, Declares&)> state) {
    return token_of([state](Declares& op, OperatorSpec& spec) {
      spec.input(op.in, "in");
      state(spec.output(op.out, "out"), op);
    });
  };
  using Builder = OutputSpecBuilder;
  for (const Rate none : {Rate::hz(0), Rate::hz(-60), Rate::per(60, 0), Rate::per(0, 0)}) {
    CHECK(of_output([&](Builder out, Declares&) { out.nominal_rate(none); }) ==
          "PORT_RATE_INVALID");
    CHECK(of_output([&](Builder out, Declares&) { out.lifecycle_nominal_rate(none); }) ==
          "PORT_RATE_INVALID");
    CHECK(of_output([&](Builder out, Declares&) {
            out.lifecycle_nominal_rate(Rate::hz(1)).max_nominal_rate(none);
          }) == "PORT_RATE_INVALID");
    CHECK(token_of([&](Declares& op, OperatorSpec& spec) {
            spec.input(op.in, "in").expected_rate(none);
          }) == "PORT_RATE_INVALID");
  }
  CHECK(of_output([](Builder out, Declares& op) {
          out.follows(op.in, {0, 1});
        }) == "PORT_RATE_INVALID");
  CHECK(of_output([](Builder out, Declares& op) {
          out.follows(op.in, {1, 0});
        }) == "PORT_RATE_INVALID");
  CHECK(of_output([](Builder out, Declares&) {
          out.nominal_rate(Rate::hz(1)).lifecycle_nominal_rate(Rate::hz(1));
        }) == "PORT_RATE_CONFLICT");
  CHECK(of_output([](Builder out, Declares& op) {
          out.follows(op.in).nominal_rate(Rate::hz(1));
        }) == "PORT_RATE_CONFLICT");
  CHECK(of_output([](Builder out, Declares&) {
          out.nominal_rate(Rate::hz(1)).max_nominal_rate(Rate::hz(2));
        }) == "PORT_RATE_CONFLICT");
  CHECK(token_of([](Declares& op, OperatorSpec& spec) {
          spec.output(op.out, "out").follows(op.in);
        }) == "PORT_RATE_INPUT_FOREIGN");
  const Sink elsewhere;
  CHECK(of_output([&](Builder out, Declares&) { out.follows(elsewhere.numbers); }) ==
        "PORT_RATE_INPUT_FOREIGN");
}

TEST_CASE("a horizon for an input that was not declared is refused") {
  Graph graph{"demo"};
  graph.op<Declares>("a", [](Declares& op, OperatorSpec& spec) { spec.output(op.out, "out"); });
  CHECK(thrown_token([&] { static_cast<void>(graph.snapshot()); }) == "CONTRACT_INPUT_FOREIGN");
}

TEST_CASE("an unbound port answers with an error instead of crashing") {
  Source source;
  Sink sink;
  CHECK(source.numbers.emit(1).error().token == "PORT_UNBOUND");
  CHECK(source.numbers.close().error().token == "PORT_UNBOUND");
  CHECK(source.frames.allocate_tensor({}).error().token == "PORT_UNBOUND");
  CHECK(sink.numbers.receive().error().token == "PORT_UNBOUND");
  CHECK(sink.numbers.is_missing());
}
