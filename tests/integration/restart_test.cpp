// SPDX-License-Identifier: Apache-2.0
//
// Restarts of operators while the rest of a graph runs: what goes down and up, in what order, what
// is kept, and what becomes of a candidate that fails.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <map>

#include "test_operators.hpp"

using namespace test;
using weftline::CompileOptions;
using weftline::LifecycleContext;
using weftline::LifecycleReceipt;
using weftline::LifecycleStage;
using weftline::LifecycleStatus;
using weftline::RunTermination;
using State = weftline::LifecycleTransactionState;

namespace {

/// What the instances of one operator share: the test sees it, too.
struct Script {
  std::shared_ptr<Collected<std::string>> log{std::make_shared<Collected<std::string>>()};
  /// By stage, what its calls answer, in order; the last one stays, and without one all is well.
  std::map<LifecycleStage, std::vector<LifecycleStatus>> answers{};
  std::map<LifecycleStage, std::size_t> calls{};
  std::shared_ptr<Gate> start_gate{};  ///< The second start waits here.
  std::shared_ptr<Gate> compute_gate{};
  std::shared_ptr<std::atomic<int>> alive{std::make_shared<std::atomic<int>>(0)};
};
using SharedScript = std::shared_ptr<Script>;

/// Passes its input on, and writes down what its stages do. Counts per instance.
class Worker final : public Operator<> {
 public:
  Worker(std::string name, SharedScript script)
      : name_(std::move(name)), script_(std::move(script)) {
    script_->alive->fetch_add(1);
  }
  ~Worker() override { script_->alive->fetch_sub(1); }
  Input<std::uint64_t> in;
  Output<std::uint64_t> out;
  Output<std::uint64_t> passed;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
    spec.output(passed, "passed");
    for (const LifecycleStage stage :
         {LifecycleStage::kConfigure, LifecycleStage::kAllocate, LifecycleStage::kArm,
          LifecycleStage::kStart, LifecycleStage::kStop, LifecycleStage::kRelease}) {
      spec.lifecycle().stage(stage, &Worker::act);
    }
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    if (script_->compute_gate && !script_->compute_gate->pass())
      return weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG", "the gate stayed shut");
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_TRY(out.emit(sample.data));
    return passed.emit(passed_++);
  }

 private:
  LifecycleStatus act(LifecycleContext& context) noexcept {
    const LifecycleStage stage = context.stage();
    script_->log->add(std::string(weftline::lifecycle_stage_name(stage)) + " " + name_);
    const std::size_t call = script_->calls[stage]++;
    if (stage == LifecycleStage::kStart && call == 1 && script_->start_gate) {
      static_cast<void>(script_->start_gate->pass());
    }
    const auto said = script_->answers.find(stage);
    if (said == script_->answers.end()) return LifecycleStatus::kOk;
    return said->second[std::min(call, said->second.size() - 1)];
  }

  const std::string name_;
  const SharedScript script_;
  std::uint64_t passed_{0};
};

/// Keeps what a fan-out gave it with its sequence number.
class Numbered final : public Operator<> {
 public:
  using Seen = std::shared_ptr<Collected<std::pair<std::uint64_t, std::uint64_t>>>;
  explicit Numbered(Seen seen) : seen_(std::move(seen)) {}
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    seen_->add({sample.data, sample.metadata.sequence});
    return {};
  }

 private:
  const Seen seen_;
};

/// source -> worker -> sink, and the worker's count of its own. The source emits while it may.
struct Line {
  weftline::Graph graph{"line"};
  SharedScript script{std::make_shared<Script>()};
  Collector::Values values{std::make_shared<Collected<std::uint64_t>>()};
  Numbered::Seen counts{std::make_shared<Collected<std::pair<std::uint64_t, std::uint64_t>>>()};
  weftline::OperatorHandle<CountingSource> source;
  weftline::OperatorHandle<Worker> worker;

  explicit Line(std::uint64_t samples)
      : source(graph.op<CountingSource>("source", samples)),
        worker(graph.op<Worker>("worker", "worker", script)) {
    graph.add_flow(source->out, worker->in);
    graph.add_flow(worker->out, graph.op<Collector>("sink", values)->in);
    graph.add_flow(worker->passed, graph.op<Numbered>("counter", counts)->in);
  }
  weftline::ExecutionPlan compile() {
    use_realtime_clock(graph);
    CompileOptions options;
    options.lifecycle_transactions.emplace();
    auto plan = weftline::compile(graph, options);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    return plan;
  }
};

State outcome(const LifecycleReceipt& receipt) {
  REQUIRE(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
  return receipt.view().state;
}

std::vector<std::string> from(const std::vector<std::string>& log, std::size_t first) {
  return {log.begin() + static_cast<std::ptrdiff_t>(std::min(first, log.size())), log.end()};
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a restart from start stops and starts the same instance, and no sample is lost") {
  Line line(3'000);
  line.graph.allow_external_restart(line.worker);
  const auto plan = line.compile();
  const int instances = *line.script->alive;
  const auto session = weftline::run_async(plan);
  const auto control = session.lifecycle_control();
  REQUIRE(line.values->wait_for_count(10));
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const auto receipt = control.request_restart("worker", {.reason = "round"});
    if (outcome(receipt) == State::kRejected) break;  // it has worked off everything
    CHECK(receipt.view().candidate_generation == round + 1);
    CHECK(*line.script->alive == instances + 1);
  }
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(line.values->values() == counting(3'000));
  const auto log = line.script->log->values();
  CHECK(Words(log.begin(), log.begin() + 6) == Words{"configure worker", "allocate worker",
                                                     "arm worker", "start worker", "stop worker",
                                                     "start worker"});
  CHECK(session.counters().restarts.committed >= 1);
  CHECK(session.counters().restarts.last_duration_ns > 0);
  // One instance all along.
  const auto counts = line.counts->values();
  for (std::size_t index = 0; index < counts.size(); ++index) CHECK(counts[index].first == index);
}

TEST_CASE("a restart from configure runs a fresh instance, and its outputs count from 0") {
  Line line(0);
  line.graph.allow_external_restart(line.worker, {.from_stage = LifecycleStage::kConfigure});
  const auto plan = line.compile();
  auto session = weftline::run_async(plan);
  REQUIRE(line.values->wait_for_count(10));
  const int instances = *line.script->alive;
  const auto receipt = session.lifecycle_control().request_restart("worker");
  REQUIRE(outcome(receipt) == State::kCommitted);
  CHECK(receipt.view().effective_stage == LifecycleStage::kConfigure);
  CHECK(*line.script->alive == instances);  // the old one is gone
  REQUIRE(line.values->wait_for_count(line.values->values().size() + 10));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  const auto values = line.values->values();
  CHECK(values == counting(values.size()));
  CHECK(from(line.script->log->values(), 4) ==
        Words{"stop worker", "release worker", "configure worker", "allocate worker", "arm worker",
              "start worker", "stop worker", "release worker"});
  // Count and sequence number begin again together, once.
  const auto counts = line.counts->values();
  std::size_t beginnings = 0;
  for (const auto& count : counts) {
    CHECK(count.first == count.second);
    if (count.first == 0) ++beginnings;
  }
  CHECK(beginnings == 2);
}

TEST_CASE("a restart from allocate releases first, and keeps the instance") {
  Line line(0);
  line.graph.allow_external_restart(line.worker, {.from_stage = LifecycleStage::kAllocate});
  const auto plan = line.compile();
  auto session = weftline::run_async(plan);
  REQUIRE(line.values->wait_for_count(1));
  REQUIRE(outcome(session.lifecycle_control().request_restart("worker")) == State::kCommitted);
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(from(line.script->log->values(), 4) ==
        Words{"stop worker", "release worker", "allocate worker", "arm worker", "start worker",
              "stop worker", "release worker"});
}

TEST_CASE("what starts after a target goes down before it and comes up after it") {
  Line line(0);
  const auto after = line.graph.op<Worker>("after", "after", line.script);
  line.graph.add_flow(line.source->out, after->in);
  line.graph.lifecycle_after(after, line.worker);
  line.graph.allow_external_restart(line.worker, {.from_stage = LifecycleStage::kArm});
  const auto plan = line.compile();
  auto session = weftline::run_async(plan);
  REQUIRE(line.values->wait_for_count(1));
  const std::size_t before = line.script->log->values().size();
  REQUIRE(outcome(session.lifecycle_control().request_restart("worker")) == State::kCommitted);
  CHECK(from(line.script->log->values(), before) == Words{"stop after", "stop worker", "arm worker",
                                                          "arm after", "start worker",
                                                          "start after"});
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a candidate that fails makes way for what ran before, and the run goes on") {
  const bool fresh = GENERATE(false, true);
  Line line(0);
  line.script->answers[LifecycleStage::kStart] = {
      LifecycleStatus::kOk, LifecycleStatus::kFatalFailure, LifecycleStatus::kOk};
  line.graph.allow_external_restart(
      line.worker, {.from_stage = fresh ? LifecycleStage::kConfigure : LifecycleStage::kStart});
  const auto plan = line.compile();
  auto session = weftline::run_async(plan);
  REQUIRE(line.values->wait_for_count(10));
  const int instances = *line.script->alive;
  const auto receipt = session.lifecycle_control().request_restart("worker");
  CHECK(outcome(receipt) == State::kRolledBack);
  CHECK_FALSE(receipt.view().error.token.empty());
  CHECK(*line.script->alive == instances);
  REQUIRE(line.values->wait_for_count(line.values->values().size() + 10));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(session.diagnostics().empty());
  CHECK(session.counters().restarts.rolled_back == 1);
  const auto values = line.values->values();
  CHECK(values == counting(values.size()));
  // The instance from before goes on where it was.
  const auto counts = line.counts->values();
  for (std::size_t index = 0; index < counts.size(); ++index) CHECK(counts[index].first == index);
}

TEST_CASE("a rollback that fails, too, ends the run with the operator's name") {
  Line line(0);
  line.script->answers[LifecycleStage::kStart] = {LifecycleStatus::kOk,
                                                  LifecycleStatus::kFatalFailure};
  line.graph.allow_external_restart(line.worker);
  const auto plan = line.compile();
  const auto session = weftline::run_async(plan);
  REQUIRE(line.values->wait_for_count(10));
  const auto receipt = session.lifecycle_control().request_restart("worker");
  CHECK(outcome(receipt) == State::kFailedStopped);
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics().at(0).place == "worker.start");
  CHECK(session.counters().restarts.failed_stopped == 1);
}

TEST_CASE("a restart that nobody granted touches nothing") {
  Line line(100);
  const auto plan = line.compile();
  const auto session = weftline::run_async(plan);
  const auto receipt = session.lifecycle_control().request_restart("worker");
  CHECK(outcome(receipt) == State::kRejected);
  CHECK(receipt.view().error.token == "RESTART_NOT_GRANTED");
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(line.script->log->values().size() == 6);
  CHECK(line.values->values() == counting(100));
}

TEST_CASE("an operator that has closed its outputs is not restarted") {
  Line line(5);
  line.graph.allow_external_restart(line.worker);
  line.graph.op<Scripted>(
      "endless", Scripted::Script([](ExecutionContext&) { return expected<void, Error>{}; }));
  const auto plan = line.compile();
  auto session = weftline::run_async(plan);
  REQUIRE(eventually(session,
                     [&] { return counters_of(plan, session.counters(), "worker").finished; }));
  const auto receipt = session.lifecycle_control().request_restart("worker");
  CHECK(outcome(receipt) == State::kRejected);
  CHECK(receipt.view().error.token == "RESTART_TARGET_FINISHED");
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a stop ends the wait for an operator that does not come back, and rejects what waits") {
  Line line(0);
  line.script->compute_gate = std::make_shared<Gate>();
  line.graph.allow_external_restart(line.worker);
  const auto plan = line.compile();
  auto session = weftline::run_async(plan);
  const OpensAtEnd open{line.script->compute_gate};
  const auto control = session.lifecycle_control();
  REQUIRE(line.script->compute_gate->wait_for_visitor());
  const auto first = control.request_restart("worker");
  REQUIRE(eventually(session, [&] { return first.view().state == State::kQuiescing; }));
  const auto second = control.request_restart("worker");
  session.request_stop();
  CHECK(outcome(first) == State::kRejected);
  CHECK(first.view().error.token == "RESTART_SESSION_ENDING");
  line.script->compute_gate->open();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(outcome(second) == State::kRejected);
}

TEST_CASE("a stop while a candidate starts ends the run as stopped, and everybody is taken down") {
  Line line(0);
  line.script->start_gate = std::make_shared<Gate>();
  line.graph.allow_external_restart(line.worker);
  const auto plan = line.compile();
  auto session = weftline::run_async(plan);
  const OpensAtEnd open{line.script->start_gate};
  REQUIRE(line.values->wait_for_count(1));
  const auto receipt = session.lifecycle_control().request_restart("worker");
  REQUIRE(line.script->start_gate->wait_for_visitor());
  session.request_stop();
  line.script->start_gate->open();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(is_final(receipt.view().state));
  const auto log = line.script->log->values();
  CHECK(std::ranges::count(log, "start worker") == std::ranges::count(log, "stop worker"));
  CHECK(log.back() == "release worker");
}

TEST_CASE("receipts and handles are of use when their session has gone") {
  Line line(20);
  line.graph.allow_external_restart(line.worker);
  const auto plan = line.compile();
  std::optional<weftline::LifecycleControlHandle> control;
  {
    const auto session = weftline::run_async(plan);
    control = session.lifecycle_control();
    REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  }
  const auto receipt = control->request_restart("worker");
  CHECK(receipt.view().state == State::kRejected);
  CHECK(receipt.view().error.token == "RESTART_SESSION_ENDING");
}

TEST_CASE("restarts asked for from many threads leave no sample out and nobody waiting") {
  Line line(20'000);
  line.graph.allow_external_restart(line.worker, {.from_stage = LifecycleStage::kConfigure});
  const auto plan = line.compile();
  const auto session = weftline::run_async(plan);
  const auto control = session.lifecycle_control();
  std::vector<std::thread> askers;
  std::atomic<bool> strange{false};
  for (int asker = 0; asker < 3; ++asker) {
    askers.emplace_back(
        [&, stage = asker == 0 ? LifecycleStage::kConfigure : LifecycleStage::kStart] {
          for (;;) {
            const auto receipt = control.request_restart("worker", {.from_stage = stage});
            if (!receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog)) strange = true;
            const auto view = receipt.view();
            if (view.state == State::kCommitted) continue;
            const std::string_view token = view.error.token;
            if (token != "RESTART_SESSION_ENDING" && token != "RESTART_TARGET_FINISHED")
              strange = true;
            return;
          }
        });
  }
  const auto ended = run_to_end(session);
  for (auto& asker : askers) asker.join();
  REQUIRE(ended == RunTermination::kCompleted);
  CHECK_FALSE(strange);
  CHECK(line.values->values() == counting(20'000));
}
