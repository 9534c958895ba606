// SPDX-License-Identifier: Apache-2.0
//
// Parameters that take a new value by a restart.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "test_operators.hpp"
#include "weftline/runtime/parameter_control.hpp"

using namespace test;
using weftline::CompileOptions;
using weftline::LifecycleContext;
using weftline::LifecycleStage;
using weftline::LifecycleStatus;
using weftline::ParamAssignment;
using weftline::ParamUpdateState;
using weftline::ParamUpdateStatus;
using weftline::RunTermination;
using State = weftline::LifecycleTransactionState;

namespace {

struct Sensor {
  std::uint64_t gain{1};
  std::uint64_t buffers{2};
  std::uint64_t exposure{3};
};
WEFTLINE_PARAM_SCHEMA(
    Sensor, weftline::param_schema("test.Sensor", 1),
    weftline::field<&Sensor::gain>("gain").runtime_mutable(),
    weftline::field<&Sensor::buffers>("buffers").range(1, 100).lifecycle_mutable(
        LifecycleStage::kAllocate),
    weftline::field<&Sensor::exposure>("exposure").lifecycle_mutable(LifecycleStage::kStart));

/// What the callbacks of all instances have seen: "allocate 2 3", "compute 2 3".
using Log = std::shared_ptr<Collected<std::string>>;

class Camera final : public Operator<Sensor> {
 public:
  /// Its second kStart fails if that says so.
  Camera(Log log, std::shared_ptr<std::atomic<int>> starts, bool second_fails)
      : log_(std::move(log)), starts_(std::move(starts)), second_fails_(second_fails) {}
  void setup(OperatorSpec& spec) override {
    for (const LifecycleStage stage :
         {LifecycleStage::kConfigure, LifecycleStage::kAllocate, LifecycleStage::kArm,
          LifecycleStage::kStart, LifecycleStage::kStop, LifecycleStage::kRelease}) {
      spec.lifecycle().stage(stage, &Camera::act);
    }
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (std::string now = text("compute", context); now != last_) {
      log_->add(now);
      last_ = std::move(now);
    }
    return {};
  }

 private:
  template <class Context>
  static std::string text(std::string_view what, const Context& context) {
    const Sensor& params = context.template params<Sensor>();
    return std::string(what) + " " + std::to_string(params.buffers) + " " +
           std::to_string(params.exposure);
  }
  LifecycleStatus act(LifecycleContext& context) noexcept {
    log_->add(text(weftline::lifecycle_stage_name(context.stage()), context));
    const bool fails =
        context.stage() == LifecycleStage::kStart && starts_->fetch_add(1) == 1 && second_fails_;
    return fails ? LifecycleStatus::kFatalFailure : LifecycleStatus::kOk;
  }

  const Log log_;
  const std::shared_ptr<std::atomic<int>> starts_;
  const bool second_fails_;
  std::string last_{};
};

struct Run {
  explicit Run(LifecycleStage from, bool second_start_fails = false) {
    weftline::Graph graph{"camera"};
    use_realtime_clock(graph);
    const auto camera =
        graph.op<Camera>("camera", log, std::make_shared<std::atomic<int>>(0), second_start_fails);
    graph.allow_external_restart(camera, {.from_stage = from});
    CompileOptions options;
    options.lifecycle_transactions.emplace();
    plan.emplace(weftline::compile(graph, options));
    INFO(weftline::format_diagnostics(plan->diagnostics()));
    REQUIRE(plan->ok());
    session.emplace(weftline::run_async(*plan, {.observe = {.trace_events = 4'096}}));
    REQUIRE(log->wait_for_count(5));  // up to the first compute()
  }
  State restart(std::optional<LifecycleStage> from = {}) {
    const auto receipt =
        session->lifecycle_control().request_restart("camera", {.from_stage = from});
    REQUIRE(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
    return receipt.view().state;
  }
  std::vector<std::string> log_after(std::size_t first, std::size_t count) {
    REQUIRE(log->wait_for_count(first + count));
    session->request_stop();
    REQUIRE(run_to_end(*session) == RunTermination::kStopped);
    const auto all = log->values();
    return {all.begin() + static_cast<std::ptrdiff_t>(first),
            all.begin() + static_cast<std::ptrdiff_t>(first + count)};
  }
  Log log{std::make_shared<Collected<std::string>>()};
  std::optional<weftline::ExecutionPlan> plan{};
  std::optional<weftline::RunSession> session{};
};

using Words = std::vector<std::string>;
const std::vector<ParamAssignment> kBoth{{"buffers", 20}, {"exposure", 30}};

}  // namespace

TEST_CASE("a restart gives each field its new value at the field's stage, and compute() sees all") {
  Run run(LifecycleStage::kConfigure);
  const auto control = run.session->parameter_control();
  const auto update = control.update("camera", kBoth);
  CHECK(update.status == ParamUpdateStatus::kDeferred);
  CHECK(update.receipt.state() == ParamUpdateState::kSubmitted);
  for_a_while([&] { CHECK(run.log->values().size() == 5); });  // compute() goes on as it was
  REQUIRE(run.restart() == State::kCommitted);
  REQUIRE(eventually(*run.session,
                     [&] { return update.receipt.state() == ParamUpdateState::kObserved; }));
  CHECK(*control.snapshot().find("camera", "buffers")->as_uint() == 20);
  CHECK(run.log_after(5, 7) == Words{"stop 2 3", "release 2 3", "configure 2 3", "allocate 20 3",
                                     "arm 20 3", "start 20 30", "compute 20 30"});
}

TEST_CASE("a restart that begins too late for one field of what waits takes none of it") {
  Run run(LifecycleStage::kAllocate);
  const auto control = run.session->parameter_control();
  const auto update = control.update("camera", kBoth);
  REQUIRE(update);
  REQUIRE(run.restart(LifecycleStage::kArm) == State::kCommitted);
  CHECK(update.receipt.state() == ParamUpdateState::kSubmitted);
  REQUIRE(run.restart() == State::kCommitted);
  REQUIRE(eventually(*run.session,
                     [&] { return update.receipt.state() == ParamUpdateState::kObserved; }));
  CHECK(run.log_after(5, 8) == Words{"stop 2 3", "arm 2 3", "start 2 3", "stop 2 3", "release 2 3",
                                     "allocate 20 3", "arm 20 3", "start 20 30"});
}

TEST_CASE("a restart that is rolled back takes its values back, and the update is rejected") {
  const bool fresh = GENERATE(true, false);
  Run run(fresh ? LifecycleStage::kConfigure : LifecycleStage::kAllocate, true);
  const auto control = run.session->parameter_control();
  const auto update = control.update("camera", kBoth);
  REQUIRE(update);
  REQUIRE(run.restart() == State::kRolledBack);
  CHECK(update.receipt.state() == ParamUpdateState::kRejected);
  const auto snapshot = control.snapshot();
  CHECK(*snapshot.find("camera", "buffers")->as_uint() == 2);
  CHECK(*snapshot.find("camera", "exposure")->as_uint() == 3);
  // What goes on is updated as before.
  const auto next = control.update("camera", "exposure", 31);
  CHECK(next.status == ParamUpdateStatus::kDeferred);
  REQUIRE(run.restart() == State::kCommitted);
  REQUIRE(eventually(*run.session,
                     [&] { return next.receipt.state() == ParamUpdateState::kObserved; }));
  const Words candidate =
      fresh ? Words{"stop 2 3",     "release 2 3", "configure 2 3", "allocate 20 3",
                    "arm 20 3",     "start 20 30", "release 20 30", "configure 2 3",
                    "allocate 2 3", "arm 2 3",     "start 2 3"}
            : Words{"stop 2 3",      "release 2 3",  "allocate 20 3", "arm 20 3", "start 20 30",
                    "release 20 30", "allocate 2 3", "arm 2 3",       "start 2 3"};
  CHECK(run.log_after(5, candidate.size()) == candidate);
}

TEST_CASE("a member of a closure takes what waits for it when another one is restarted") {
  weftline::Graph graph{"closure"};
  use_realtime_clock(graph);
  const auto log = std::make_shared<Collected<std::string>>();
  const auto starts = std::make_shared<std::atomic<int>>(0);
  const auto camera = graph.op<Camera>("camera", log, starts, false);
  const auto driver = graph.op<Scripted>(
      "driver", Scripted::Script([](ExecutionContext&) { return expected<void, Error>{}; }));
  graph.lifecycle_after(camera, driver);
  graph.allow_external_restart(driver);
  CompileOptions options;
  options.lifecycle_transactions.emplace();
  const auto plan = weftline::compile(graph, options);
  REQUIRE(plan.ok());
  auto session = weftline::run_async(plan);
  REQUIRE(log->wait_for_count(5));
  const auto control = session.parameter_control();
  // The driver's grant begins with start: too late for the buffers.
  CHECK(control.update("camera", "buffers", 20).status == ParamUpdateStatus::kUpdatesDisabled);
  const auto update = control.update("camera", "exposure", 30);
  REQUIRE(update.status == ParamUpdateStatus::kDeferred);
  const auto receipt = session.lifecycle_control().request_restart("driver");
  REQUIRE(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
  REQUIRE(
      eventually(session, [&] { return update.receipt.state() == ParamUpdateState::kObserved; }));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a trace shows what was restarted, its stages, who stood still, and new parameters") {
  using weftline::TraceEvent;
  using weftline::TraceEventKind;
  Run run(LifecycleStage::kArm);
  const auto update = run.session->parameter_control().update("camera", "exposure", 30);
  REQUIRE(run.restart() == State::kCommitted);
  REQUIRE(eventually(*run.session,
                     [&] { return update.receipt.state() == ParamUpdateState::kObserved; }));
  run.session->request_stop();
  REQUIRE(run_to_end(*run.session) == RunTermination::kStopped);
  const auto trace = run.session->trace();
  std::string controller;
  std::vector<TraceEvent> restarts;
  for (const TraceEvent& event : trace.controller.events) {
    if (event.kind == TraceEventKind::kRestart) restarts.push_back(event);
    controller += event.kind == TraceEventKind::kRestart
                      ? "restart "
                      : std::string(weftline::lifecycle_stage_name(
                            static_cast<LifecycleStage>(event.value))) +
                            " ";
  }
  CHECK(controller == "configure allocate arm start stop arm start restart stop release ");
  REQUIRE(restarts.size() == 1);
  CHECK(restarts[0].value == static_cast<std::uint64_t>(State::kCommitted));
  CHECK(static_cast<std::uint64_t>(restarts[0].end_ns - restarts[0].begin_ns) ==
        run.session->counters().restarts.last_duration_ns);
  std::uint64_t stood = 0;
  std::vector<std::uint64_t> generations;
  for (const TraceEvent& event : trace.lanes.at(0).events) {
    if (event.kind == TraceEventKind::kParams) generations.push_back(event.value);
    if (event.kind != TraceEventKind::kStand) continue;
    ++stood;
    CHECK(event.end_ns >= restarts[0].end_ns);
  }
  // Unless so much came after it that the ring has lost them.
  if (trace.lanes[0].overwritten == 0) {
    CHECK(stood == 1);
    CHECK(generations == std::vector<std::uint64_t>{1});
  }
}
