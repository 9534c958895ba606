// SPDX-License-Identifier: Apache-2.0
//
// Rule 10: what is dropped, folded or waited for has a counter that says so.
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"

using namespace test;
using weftline::MemoryKind;
using weftline::RunTermination;

namespace {

/// Stands still until the test moves it.
class MovedClock final : public weftline::Clock {
 public:
  std::int64_t now_ns() const noexcept override { return now; }
  bool independent_progress() const noexcept override { return true; }
  static inline std::atomic<std::int64_t> now{0};
};

class Ticking final : public Operator<> {
 public:
  Ticking(std::shared_ptr<Collected<std::int64_t>> times, std::shared_ptr<Gate> gate)
      : times_(std::move(times)), gate_(std::move(gate)) {}
  void setup(OperatorSpec&) override {}
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::milliseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    times_->add(context.activation_time().timestamp_ns);
    if (!gate_->pass()) return weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG");
    return {};
  }

 private:
  const std::shared_ptr<Collected<std::int64_t>> times_;
  const std::shared_ptr<Gate> gate_;
};

class Unreading final : public Operator<> {
 public:
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

}  // namespace

TEST_CASE("ticks that a busy operator missed are folded into the last one, and counted") {
  MovedClock::now = 40;
  weftline::Graph graph{"ticks"};
  graph.set_default_clock(graph.add_clock<MovedClock>("moved"));
  const auto times = std::make_shared<Collected<std::int64_t>>();
  const auto gate = std::make_shared<Gate>();
  graph.op<Ticking>("ticking", times, gate);
  auto session = weftline::run_async(weftline::compile(graph));
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  MovedClock::now = 40 + 10'700'000;
  gate->open();
  REQUIRE(times->wait_for_count(2));
  session.request_stop();
  REQUIRE(run_to_end(session) == RunTermination::kStopped);
  CHECK(times->values() == std::vector<std::int64_t>{40, 10'000'040});
  CHECK(session.counters().operators[0].coalesced_ticks == 9);
}

TEST_CASE("samples that compute() did not receive are counted") {
  weftline::Graph graph{"unread"};
  const auto source = graph.op<CountingSource>("source", std::uint64_t{25});
  const auto sink = graph.op<Unreading>("sink");
  graph.add_flow(source->out, sink->in);
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(counters_of(plan, session.counters(), "sink").unread == 25);
}

TEST_CASE("a lane with nothing to do sleeps until it is woken") {
  weftline::Graph graph{"idle"};
  const auto gate = std::make_shared<Gate>();
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  const auto times = std::make_shared<Collected<std::int64_t>>();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{1});
  const auto busy = graph.op<Collector>("busy", values, gate);
  const auto add = graph.op<AddStep>("idle", std::uint64_t{0});
  graph.add_flow(source->out, add->in);
  graph.add_flow(add->out, busy->in);
  graph.partition("a").add(source);
  graph.partition("b").add(add);
  graph.partition("c").add(busy);
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  REQUIRE(
      eventually(session, [&] { return counters_of(plan, session.counters(), "idle").finished; }));
  const auto parks = [&] {
    std::uint64_t sum = 0;
    for (const auto& lane : session.counters().lanes) sum += lane.parks;
    return sum;
  };
  const std::uint64_t before = parks();
  for_a_while([] {});
  CHECK(parks() <= before + 3);  // each lane at most once more
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
}

namespace {

constexpr DLDataType kByte{kDLUInt, 8, 1};
constexpr std::array<std::int64_t, 1> kShape{64};

weftline::TensorOutputSpec pooled() {
  return {.representation = {.memory_kind = MemoryKind::kCudaDevice, .dtype = kByte, .rank = 1},
          .bounds = weftline::tensor_bounds(64),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

weftline::CompileOptions with_device(const std::string& operator_path) {
  weftline::CompileOptions options;
  options.devices = weftline::capture_device_catalog();
  options.deployment.bind_tensor_output_device(
      {.operator_path = operator_path,
       .output_port = "out",
       .device = weftline::DeviceId{weftline::DeviceKind::kEmulated, 0}});
  return options;
}

class DeviceSource final : public Operator<> {
 public:
  explicit DeviceSource(std::uint64_t count) : count_(count) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").produces_tensor(pooled()); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (next_ == count_) return out.close();
    if (!kept_) {
      auto loan = out.allocate_tensor({.shape = kShape, .dtype = kByte});
      if (!loan && loan.error().code == ErrorCode::kResourceExhausted) return {};
      if (!loan) return weftline::forward_error(std::move(loan));
      WEFTLINE_TRY(loan->write_and_commit(
          context.cuda_stream(), [](void*, std::uint64_t) { return expected<void, Error>{}; }));
      kept_.emplace(std::move(*loan));
    }
    auto emitted = out.emit(std::move(*kept_));
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    kept_.reset();
    if (emitted) ++next_;
    return emitted;
  }

 private:
  const std::uint64_t count_;
  std::uint64_t next_{0};
  std::optional<weftline::TensorOutputLoan> kept_{};
};

/// A device tensor for each sample, without a word of retry code.
class Uploading final : public Operator<> {
 public:
  Input<std::uint64_t> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out").produces_tensor(pooled());
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_TRY(in.receive());
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kShape, .dtype = kByte}));
    WEFTLINE_TRY(loan.write_and_commit(
        context.cuda_stream(), [](void*, std::uint64_t) { return expected<void, Error>{}; }));
    return out.emit(std::move(loan));
  }
};

/// Its stream stands at the gate; its callbacks go on.
class GatedReader final : public Operator<> {
 public:
  explicit GatedReader(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    static_cast<void>(sample);
    return weftline::launch(
        context.cuda_stream(), {}, {}, [gate = gate_.get()] { static_cast<void>(gate->pass()); },
        [](CUstream_st*) { return expected<void, Error>{}; });
  }

 private:
  const std::shared_ptr<Gate> gate_;
};

}  // namespace

TEST_CASE("a source whose slots only the device holds polls, counts it, and goes on") {
  weftline::Graph graph{"device-bound"};
  const auto gate = std::make_shared<Gate>();
  const auto source = graph.op<DeviceSource>("source", std::uint64_t{40});
  const auto reader = graph.op<GatedReader>("reader", gate);
  graph.add_flow(source->out, reader->in);
  graph.partition("a").add(source);
  graph.partition("b").add(reader);
  use_realtime_clock(graph);
  const auto plan = weftline::compile(graph, with_device("source"));
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  const auto polls = [&] {
    std::uint64_t sum = 0;
    for (const auto& lane : session.counters().lanes) sum += lane.device_polls;
    return sum;
  };
  const std::uint64_t slots = plan.tensor_allocations()[0].slot_count;
  REQUIRE(eventually(session, [&] {
    const auto source_counters = counters_of(plan, session.counters(), "source");
    return source_counters.emits == slots && source_counters.refused_loans > 0;
  }));
  const auto before = polls();
  REQUIRE(eventually(session, [&] { return polls() > before + 10; }));
  const auto refused = counters_of(plan, session.counters(), "source").refused_loans;
  for_a_while(
      [&] { REQUIRE(counters_of(plan, session.counters(), "source").refused_loans == refused); });
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(counters_of(plan, session.counters(), "source").emits == 40);
}

TEST_CASE("an operator driven by inputs is not activated while the device holds all its slots") {
  weftline::Graph graph{"device-held"};
  const auto gate = std::make_shared<Gate>();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{40});
  const auto upload = graph.op<Uploading>("upload");
  const auto reader = graph.op<GatedReader>("reader", gate);
  graph.add_flow(source->out, upload->in);
  graph.add_flow(upload->out, reader->in);
  graph.partition("a").add(source);
  graph.partition("b").add(upload);
  graph.partition("c").add(reader);
  use_realtime_clock(graph);
  const auto plan = weftline::compile(graph, with_device("upload"));
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  // No slot comes back before the gate opens, so each has been emitted once.
  const std::uint64_t slots = plan.tensor_allocations()[0].slot_count;
  const auto emits = [&] { return counters_of(plan, session.counters(), "upload").emits; };
  REQUIRE(eventually(session, [&] { return emits() == slots; }));
  for_a_while([&] {
    REQUIRE(session.termination() == RunTermination::kRunning);
    REQUIRE(emits() == slots);
  });
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(counters_of(plan, session.counters(), "upload").emits == 40);
}
