// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "test_operators.hpp"
#include "weftline/core/synthetic_clock.hpp"
#include "weftline/testing/fake_channels.hpp"

using namespace test;
using weftline::ActivationReason;
using weftline::ActivationStatus;
using weftline::ClockDriver;
using weftline::OnViolation;
using weftline::RunTermination;
using weftline::SyntheticClock;
using weftline::testing::FakeChannels;
using namespace std::chrono_literals;

namespace {

struct Seen {
  std::int64_t time_ns{0};
  std::int64_t first_tick_ns{0};
  std::uint64_t coalesced{0};
  ActivationReason reason{};
  ActivationStatus status{};
};

/// Does what a test says at each tick of 10 ns.
class Ticking final : public Operator<> {
 public:
  using Work = std::function<expected<void, Error>(ExecutionContext&, Output<std::uint64_t>&)>;
  Ticking(Contract contract, Work work) : contract_(std::move(contract)), work_(std::move(work)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override { return contract_; }
  expected<void, Error> compute(ExecutionContext& context) override { return work_(context, out); }

 private:
  const Contract contract_;
  const Work work_;
};

Contract ticks() { return Contract().trigger(OnClock{10ns}); }

/// Sees each sample's flags.
class FlagSink final : public Operator<> {
 public:
  explicit FlagSink(std::shared_ptr<Collected<bool>> degraded) : degraded_(std::move(degraded)) {}
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    degraded_->add(sample.metadata.degraded());
    return {};
  }

 private:
  const std::shared_ptr<Collected<bool>> degraded_;
};

/// Sees how old each activation is that a sample makes.
class AgeSink final : public Operator<> {
 public:
  struct Start {
    std::int64_t time_ns{0};
    ActivationStatus status{};
    friend bool operator==(const Start&, const Start&) = default;
  };
  explicit AgeSink(std::shared_ptr<Collected<Start>> starts) : starts_(std::move(starts)) {}
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override {
    return Contract().trigger(OnEach{in}).max_start_delay(5ns, OnViolation::kReport);
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    starts_->add({context.activation_time().timestamp_ns, context.activation_status()});
    return {};
  }

 private:
  const std::shared_ptr<Collected<Start>> starts_;
};

struct Driven {
  std::shared_ptr<ClockDriver> driver{std::make_shared<ClockDriver>()};
  weftline::Graph graph{"driven"};
  Driven() { graph.set_default_clock(graph.add_clock<SyntheticClock>("sim", driver)); }
  [[nodiscard]] weftline::ExecutionPlan plan() {
    auto plan = weftline::compile(graph);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    return plan;
  }
};

}  // namespace

TEST_CASE("an advance of the clock wakes the lane that sleeps until a tick, and ticks coalesce") {
  Driven driven;
  Collected<std::uint64_t> times;
  std::vector<Seen> seen;
  driven.graph.op<Ticking>(
      "ticking", ticks(),
      [&](ExecutionContext& context, Output<std::uint64_t>&) -> expected<void, Error> {
        const auto& activation = context.activation();
        seen.push_back({activation.time.timestamp_ns, context.first_tick_time().timestamp_ns,
                        activation.coalesced_ticks, context.activation_reason(),
                        context.activation_status()});
        times.add(static_cast<std::uint64_t>(activation.time.timestamp_ns));
        return {};
      });
  const auto plan = driven.plan();
  CHECK(plan.records().clocks.at(0).external_driver_admitted);
  CHECK_FALSE(plan.records().clocks.at(0).independent_progress);
  auto session = weftline::run_async(plan);
  REQUIRE(times.wait_for_count(1));  // the first tick is at the start itself
  for (std::uint64_t round = 1; round <= 100; ++round) {
    // Most of these find the lane asleep, without a timer.
    REQUIRE(driven.driver->advance(10ns).has_value());
    REQUIRE(times.wait_for_count(round + 1));
  }
  CHECK(eventually(session, [&] { return session.counters().lanes.at(0).parks > 0; }));
  REQUIRE(driven.driver->advance(35ns).has_value());
  REQUIRE(times.wait_for_count(102));
  REQUIRE(driven.driver->advance(4ns).has_value());
  for_a_while([&] { CHECK(times.values().size() == 102); });
  REQUIRE(driven.driver->advance(1ns).has_value());
  REQUIRE(times.wait_for_count(103));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(seen[100].time_ns == 1'000);
  CHECK(seen[101].first_tick_ns == 1'010);
  CHECK(seen[101].time_ns == 1'030);
  CHECK(seen[101].coalesced == 2);
  CHECK(seen[102].time_ns == 1'040);
  CHECK(seen[102].reason == ActivationReason::kClock);
  CHECK(seen[102].status == ActivationStatus::kOnTime);
  // The driver outlives the run.
  CHECK(driven.driver->advance(10ns).has_value());
}

TEST_CASE("a number of calls ends an operator, closes its outputs, and the run completes") {
  Driven driven;
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  std::uint64_t next = 0;
  const auto source = driven.graph.op<Ticking>(
      "source", ticks().complete_after({.limit = 3}),
      [&](ExecutionContext&, Output<std::uint64_t>& out) { return out.emit(next++); });
  const auto sink = driven.graph.op<Collector>("sink", values);
  driven.graph.add_flow(source->out, sink->in);
  const auto plan = driven.plan();
  const auto session = weftline::run_async(plan);
  for (std::size_t count = 1; count <= 3; ++count) {
    REQUIRE(values->wait_for_count(count));
    REQUIRE(driven.driver->advance(10ns).has_value());
  }
  CHECK(run_to_end(session) == RunTermination::kCompleted);
  CHECK(values->values() == counting(3));
}

TEST_CASE("a start that is late is reported, degrades what is emitted, or fails the run") {
  // A tick at 0; the lane is kept busy by another operator, whose time goes on meanwhile.
  const auto outcome = [](OnViolation violation, std::chrono::nanoseconds busy) {
    Driven driven;
    const auto degraded = std::make_shared<Collected<bool>>();
    std::vector<ActivationStatus> statuses;
    const auto busy_one =
        driven.graph.op<Ticking>("a-busy", Contract().trigger(OnClock{1s}),
                                 [&, busy](ExecutionContext&, Output<std::uint64_t>&) {
                                   return driven.driver->advance(busy);
                                 });
    const auto late = driven.graph.op<Ticking>(
        "late", Contract().trigger(OnClock{1s}).max_start_delay(5ns, violation),
        [&](ExecutionContext& context, Output<std::uint64_t>& out) {
          statuses.push_back(context.activation_status());
          return out.emit(0);
        });
    const auto sink = driven.graph.op<FlagSink>("sink", degraded);
    driven.graph.add_flow(late->out, sink->in);
    driven.graph.partition("lane").add(busy_one).add(late).add(sink);
    const auto plan = driven.plan();
    auto session = weftline::run_async(plan);
    REQUIRE(eventually(session, [&] { return !degraded->values().empty(); }) !=
            (violation == OnViolation::kFailRun && busy > 5ns));
    session.request_stop();
    const RunTermination termination = run_to_end(session);
    const auto late_starts = counters_of(plan, session.counters(), "late").late_starts;
    CHECK(late_starts == (busy > 5ns ? 1U : 0U));
    std::string token;
    if (termination == RunTermination::kFailed) token = session.diagnostics().at(0).error.token;
    return std::tuple(statuses, degraded->values(), token);
  };
  using Statuses = std::vector<ActivationStatus>;
  using Flags = std::vector<bool>;
  CHECK(outcome(OnViolation::kFailRun, 5ns) ==
        std::tuple(Statuses{ActivationStatus::kOnTime}, Flags{false}, std::string()));
  CHECK(outcome(OnViolation::kReport, 6ns) ==
        std::tuple(Statuses{ActivationStatus::kLate}, Flags{false}, std::string()));
  CHECK(outcome(OnViolation::kDegrade, 6ns) ==
        std::tuple(Statuses{ActivationStatus::kLateDegraded}, Flags{true}, std::string()));
  CHECK(outcome(OnViolation::kFailRun, 6ns) ==
        std::tuple(Statuses{}, Flags{}, std::string("RUN_START_TOO_LATE")));
}

TEST_CASE(
    "an activation is as old as its sample, also where the lane is busy and samples queue up") {
  Driven driven;
  const auto starts = std::make_shared<Collected<AgeSink::Start>>();
  std::uint64_t tick = 0;
  const auto source = driven.graph.op<Ticking>(
      "source", ticks().complete_after({.limit = 2}),
      [&](ExecutionContext&, Output<std::uint64_t>& out) -> expected<void, Error> {
        WEFTLINE_TRY(out.emit(tick));
        // The sample is out, and time goes on before anybody looks.
        return tick++ == 0 ? driven.driver->advance(5ns) : driven.driver->advance(6ns);
      });
  const auto sink = driven.graph.op<AgeSink>("sink", starts);
  driven.graph.add_flow(source->out, sink->in);
  driven.graph.partition("lane").add(source).add(sink);
  const auto plan = driven.plan();
  const auto session = weftline::run_async(plan);
  REQUIRE(starts->wait_for_count(1));
  REQUIRE(driven.driver->advance(5ns).has_value());  // the second tick, at 10
  CHECK(run_to_end(session) == RunTermination::kCompleted);
  CHECK(starts->values() ==
        std::vector<AgeSink::Start>{{0, ActivationStatus::kOnTime}, {10, ActivationStatus::kLate}});
}

TEST_CASE("an activation by another process's sample is as old as the first look at it") {
  Driven driven;
  weftline::TopicOptions topic;
  topic.endpoint_name = "numbers";
  const auto numbers = driven.graph.import_topic<std::uint64_t>("weftline://numbers", topic);
  const auto starts = std::make_shared<Collected<AgeSink::Start>>();
  const auto sink = driven.graph.op<AgeSink>("sink", starts);
  driven.graph.add_flow(numbers.output(), sink->in);
  const auto plan = driven.plan();
  FakeChannels channels;
  auto& producer = channels.producer("numbers");
  const auto session = channels.run_async(plan);
  producer.attach(7);
  // What its clock says means nothing here.
  producer.send(std::uint64_t{1}, {.publish_time = {1'000'000, weftline::ClockId{0}}});
  REQUIRE(starts->wait_for_count(1));
  REQUIRE(driven.driver->advance(30ns).has_value());
  producer.send(std::uint64_t{2}, {.publish_time = {-1'000'000, weftline::ClockId{0}}});
  producer.end();
  CHECK(run_to_end(session) == RunTermination::kCompleted);
  CHECK(starts->values() == std::vector<AgeSink::Start>{{0, ActivationStatus::kOnTime},
                                                        {30, ActivationStatus::kOnTime}});
}

namespace {

/// A window around each anchor, on a wait clock of its own.
class Windowed final : public Operator<> {
 public:
  explicit Windowed(std::shared_ptr<Collected<ActivationReason>> reasons)
      : reasons_(std::move(reasons)) {}
  Input<std::uint64_t> anchor;
  Input<std::uint64_t> around;
  void setup(OperatorSpec& spec) override {
    spec.input(anchor, "anchor");
    spec.input(around, "around");
  }
  Contract contract() const override {
    return Contract()
        .trigger(weftline::OnWindow{.anchor = anchor,
                                    .max_wait = 100ns,
                                    .wait_clock = weftline::ClockKey{"wait"},
                                    .max_pending_windows = 2})
        .select(around, weftline::BracketedWindow{1ns, 1ns, 4}, weftline::Absent{});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    reasons_->add(context.activation_reason());
    return {};
  }

 private:
  const std::shared_ptr<Collected<ActivationReason>> reasons_;
};

}  // namespace

TEST_CASE("OnWindow measures its wait on its own clock, not on the default clock") {
  Driven driven;
  const auto wait = std::make_shared<ClockDriver>();
  driven.graph.add_clock<SyntheticClock>("wait", wait);
  const auto reasons = std::make_shared<Collected<ActivationReason>>();
  std::uint64_t next = 0;
  const auto emit = [&](ExecutionContext& context, Output<std::uint64_t>& out) {
    return out.emit(next++, {.capture_time = context.activation_time()});
  };
  const auto anchors = driven.graph.op<Ticking>("anchors", ticks(), emit);
  const auto silent = driven.graph.op<Ticking>(
      "silent", ticks(),
      [](ExecutionContext&, Output<std::uint64_t>&) { return expected<void, Error>{}; });
  const auto windowed = driven.graph.op<Windowed>("windowed", reasons);
  driven.graph.add_flow(anchors->out, windowed->anchor, {.queue_depth = 100});
  driven.graph.add_flow(silent->out, windowed->around);
  const auto plan = driven.plan();
  auto session = weftline::run_async(plan);
  const auto emitted = [&](std::uint64_t count) {
    return eventually(
        session, [&] { return counters_of(plan, session.counters(), "anchors").emits == count; });
  };
  REQUIRE(emitted(1));
  REQUIRE(driven.driver->advance(10ns).has_value());
  REQUIRE(emitted(2));
  // Both anchors were taken, at 0 on the wait clock.
  REQUIRE(eventually(session, [&] {
    return std::ranges::all_of(session.counters().edges,
                               [](const auto& edge) { return edge.depth == 0; });
  }));
  // The default clock may go on for long.
  REQUIRE(driven.driver->advance(5ns).has_value());
  REQUIRE(driven.driver->advance(1ns).has_value());
  for_a_while([&] { CHECK(reasons->values().empty()); });
  REQUIRE(wait->advance(99ns).has_value());
  for_a_while([&] { CHECK(reasons->values().empty()); });
  REQUIRE(wait->advance(1ns).has_value());
  REQUIRE(reasons->wait_for_count(1));
  CHECK(reasons->values().front() == ActivationReason::kWindowTimeout);
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(counters_of(plan, session.counters(), "windowed").window_timeouts == 1);
}

namespace {

/// Made differently from one time to the next.
class FickleClock final : public weftline::Clock {
 public:
  explicit FickleClock(std::shared_ptr<int> made) : independent_((*made)++ == 0) {}
  [[nodiscard]] std::int64_t now_ns() const noexcept override { return 0; }
  [[nodiscard]] bool independent_progress() const noexcept override { return independent_; }

 private:
  const bool independent_;
};

}  // namespace

TEST_CASE("a clock that is not as the plan says is refused before anything starts") {
  weftline::Graph graph{"fickle"};
  graph.set_default_clock(graph.add_clock<FickleClock>("odd", std::make_shared<int>(0)));
  graph.op<Scripted>("op", [](ExecutionContext& context) -> expected<void, Error> {
    context.request_success();
    return {};
  });
  const auto plan = weftline::compile(graph);
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics().at(0).place == "clock odd");
  CHECK(session.diagnostics().at(0).error.token == "RUNTIME_CLOCK_BINDING_UNAVAILABLE");
}
