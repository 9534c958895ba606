// SPDX-License-Identifier: Apache-2.0
//
// The eight stages: barriers, order, what is taken down after a failure at every point, retries.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <map>

#include "test_operators.hpp"

using namespace test;
using weftline::Graph;
using weftline::LifecycleContext;
using weftline::LifecycleStage;
using weftline::LifecycleStatus;
using weftline::RunTermination;

namespace {

using Log = std::shared_ptr<Collected<std::string>>;
Log new_log() { return std::make_shared<Collected<std::string>>(); }

constexpr std::array kStages{LifecycleStage::kConfigure, LifecycleStage::kDiscover,
                             LifecycleStage::kAllocate,  LifecycleStage::kWarmUp,
                             LifecycleStage::kArm,       LifecycleStage::kStart,
                             LifecycleStage::kStop,      LifecycleStage::kRelease};

std::string entry(LifecycleStage stage, const std::string& name) {
  return std::string(weftline::lifecycle_stage_name(stage)) + " " + name;
}

/// Answers of the calls of each stage, in order; the last one stays, and without one it is kOk.
using Answers = std::map<LifecycleStage, std::vector<LifecycleStatus>>;

/// Writes down every stage; succeeds at its first activation.
class Staged final : public Operator<> {
 public:
  Staged(std::string name, Log log, Answers answers)
      : name_(std::move(name)), log_(std::move(log)), answers_(std::move(answers)) {}
  void setup(OperatorSpec& spec) override {
    for (const LifecycleStage stage : kStages) spec.lifecycle().stage(stage, &Staged::act);
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    context.request_success();
    return {};
  }

 private:
  LifecycleStatus act(LifecycleContext& context) noexcept {
    log_->add(entry(context.stage(), name_));
    const auto said = answers_.find(context.stage());
    if (said == answers_.end()) return LifecycleStatus::kOk;
    const std::size_t call = std::min(calls_++, said->second.size() - 1);
    return said->second[call];
  }

  const std::string name_;
  const Log log_;
  const Answers answers_;
  std::size_t calls_{0};
};

const std::vector<std::string> kNames{"a", "b", "c"};

/// Three operators, of which `who` answers as told.
weftline::ExecutionPlan staged(const Log& log, const std::string& who, const Answers& answers) {
  Graph graph{"staged"};
  for (const std::string& name : kNames) {
    graph.op<Staged>(name, name, log, name == who ? answers : Answers{});
  }
  return compiled(graph);
}

/// What happens when `who` fails in `stage`: the model.
std::vector<std::string> log_of_failure(LifecycleStage failing, const std::string& who) {
  std::vector<std::string> log;
  std::vector<std::string> configured;
  std::vector<std::string> started;
  const auto forward = [&] {
    for (const LifecycleStage stage : kStages) {
      if (stage == LifecycleStage::kStop) return;
      for (const std::string& name : kNames) {
        log.push_back(entry(stage, name));
        if (stage == failing && name == who) return;
        if (stage == LifecycleStage::kConfigure) configured.push_back(name);
        if (stage == LifecycleStage::kStart) started.push_back(name);
      }
    }
  };
  forward();
  for (auto name = started.rbegin(); name != started.rend(); ++name)
    log.push_back(entry(LifecycleStage::kStop, *name));
  for (auto name = configured.rbegin(); name != configured.rend(); ++name)
    log.push_back(entry(LifecycleStage::kRelease, *name));
  return log;
}

}  // namespace

TEST_CASE("nobody enters a stage before everybody has left the one before") {
  const Log log = new_log();
  const auto session = weftline::run_async(staged(log, "", {}));
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(session.diagnostics().empty());
  CHECK(log->values() == log_of_failure(LifecycleStage::kRelease, ""));
}

TEST_CASE("a failure in any stage of any operator takes down what had come up, in reverse") {
  const auto status = GENERATE(LifecycleStatus::kFatalFailure, LifecycleStatus::kRetryableFailure);
  for (const LifecycleStage stage : kStages) {
    if (!weftline::is_lifecycle_forward_stage(stage)) continue;
    for (const std::string& who : kNames) {
      const Log log = new_log();
      const auto session = weftline::run_async(staged(log, who, {{stage, {status}}}));
      INFO(entry(stage, who));
      REQUIRE(run_to_end(session) == RunTermination::kFailed);
      CHECK(log->values() == log_of_failure(stage, who));
      REQUIRE(session.diagnostics().size() == 1);
      CHECK(session.diagnostics()[0].place ==
            who + "." + std::string(weftline::lifecycle_stage_name(stage)));
      CHECK(session.diagnostics()[0].error.token == "LIFECYCLE_STAGE_FAILED");
      CHECK(session.diagnostics()[0].error.message.find(lifecycle_status_name(status)) !=
            std::string::npos);
    }
  }
}

TEST_CASE("a failure while the run is taken down is reported, and keeps nobody from the rest") {
  const auto stage = GENERATE(LifecycleStage::kStop, LifecycleStage::kRelease);
  const Log log = new_log();
  const auto session =
      weftline::run_async(staged(log, "b", {{stage, {LifecycleStatus::kFatalFailure}}}));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(log->values() == log_of_failure(LifecycleStage::kRelease, ""));
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].place ==
        "b." + std::string(weftline::lifecycle_stage_name(stage)));
}

TEST_CASE("a retryable failure is tried again as often as the options say, a fatal one never") {
  constexpr auto kAgain = LifecycleStatus::kRetryableFailure;
  const auto outcome = [](const std::vector<LifecycleStatus>& answers, std::uint32_t retries) {
    const Log log = new_log();
    const auto session = weftline::run_async(
        staged(log, "b", {{LifecycleStage::kDiscover, answers}}), {.lifecycle_retries = retries});
    const auto termination = run_to_end(session);
    const auto entries = log->values();
    return std::pair(termination, std::ranges::count(entries, "discover b"));
  };
  CHECK(outcome({kAgain, kAgain, LifecycleStatus::kOk}, 2) ==
        std::pair(RunTermination::kCompleted, std::ptrdiff_t{3}));
  CHECK(outcome({kAgain, kAgain, LifecycleStatus::kOk}, 1) ==
        std::pair(RunTermination::kFailed, std::ptrdiff_t{2}));
  CHECK(outcome({kAgain, LifecycleStatus::kFatalFailure}, 9) ==
        std::pair(RunTermination::kFailed, std::ptrdiff_t{2}));
  CHECK(outcome({kAgain, LifecycleStatus::kSkipped}, 9) ==
        std::pair(RunTermination::kCompleted, std::ptrdiff_t{2}));
}

TEST_CASE("a callback that skips its stage has passed it") {
  const Log log = new_log();
  Answers skips;
  for (const LifecycleStage stage : kStages) skips[stage] = {LifecycleStatus::kSkipped};
  REQUIRE(run_to_end(weftline::run_async(staged(log, "b", skips))) == RunTermination::kCompleted);
  CHECK(log->values() == log_of_failure(LifecycleStage::kRelease, ""));
}

TEST_CASE("a status that is none is a failure") {
  const Log log = new_log();
  const auto session = weftline::run_async(
      staged(log, "b", {{LifecycleStage::kArm, {static_cast<LifecycleStatus>(77)}}}));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics()[0].place == "b.arm");
}

namespace {

/// One callback, of one stage, as a function.
class OneStage final : public Operator<> {
 public:
  using Act = std::function<LifecycleStatus(LifecycleContext&)>;
  OneStage(LifecycleStage stage, Act act, Log log)
      : stage_(stage), act_(std::move(act)), log_(std::move(log)) {}
  void setup(OperatorSpec& spec) override {
    spec.lifecycle().stage(stage_, &OneStage::act);
    if (log_) spec.lifecycle().stage(LifecycleStage::kRelease, &OneStage::release);
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    context.request_success();
    return {};
  }

 private:
  LifecycleStatus act(LifecycleContext& context) noexcept { return act_(context); }
  LifecycleStatus release(LifecycleContext& context) noexcept {
    log_->add(context.cancellation().requested() ? "released, cancelled" : "released");
    return LifecycleStatus::kOk;
  }

  const LifecycleStage stage_;
  const Act act_;
  const Log log_;
};

}  // namespace

TEST_CASE("a callback says why it fails in its own words") {
  Graph graph{"words"};
  graph.op<OneStage>("camera", LifecycleStage::kDiscover,
                     OneStage::Act([](LifecycleContext& context) {
                       return context.fail({ErrorCode::kNotFound, "CAMERA_MISSING",
                                            "no camera answers; plug one in", 0});
                     }),
                     nullptr);
  const auto session = weftline::run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].to_string() ==
        "camera.discover: kNotFound [CAMERA_MISSING]: no camera answers; plug one in");
}

TEST_CASE("a stop ends the stages after the callback that is running, and is no failure") {
  const auto answer = GENERATE(LifecycleStatus::kOk, LifecycleStatus::kFatalFailure,
                               LifecycleStatus::kRetryableFailure);
  const Log log = new_log();
  const auto gate = std::make_shared<Gate>();
  const OpensAtEnd opens{gate};
  Graph graph{"stopped"};
  graph.op<OneStage>(
      "slow", LifecycleStage::kAllocate, OneStage::Act([=](LifecycleContext& context) {
        gate->pass();
        if (answer == LifecycleStatus::kOk) return answer;
        // What a wait says that the stop has ended.
        return context.fail({ErrorCode::kInterrupted, "CAMERA_WAIT_ENDED", {}, 0}, answer);
      }),
      log);
  graph.op<OneStage>("z", LifecycleStage::kAllocate, OneStage::Act([=](LifecycleContext&) {
                       log->add("too late");
                       return LifecycleStatus::kOk;
                     }),
                     nullptr);
  auto session = weftline::run_async(compiled(graph), {.lifecycle_retries = 1000});
  REQUIRE(gate->wait_for_visitor());
  session.request_stop();
  gate->open();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(session.diagnostics().empty());
  CHECK(log->values() == std::vector<std::string>{"released, cancelled"});
}

TEST_CASE("a stop ends the pauses between retries") {
  const auto tried = std::make_shared<Collected<int>>();
  Graph graph{"retrying"};
  graph.op<OneStage>("never", LifecycleStage::kDiscover, OneStage::Act([=](LifecycleContext&) {
                       tried->add(1);
                       return LifecycleStatus::kRetryableFailure;
                     }),
                     nullptr);
  auto session = weftline::run_async(compiled(graph), {.lifecycle_retries = 0xffff'ffff});
  REQUIRE(tried->wait_for_count(3));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a run that ends by itself is not cancelled when it is taken down") {
  class EndsAtOnce final : public Operator<> {
   public:
    explicit EndsAtOnce(Log log) : log_(std::move(log)) {}
    Output<std::uint32_t> out;
    void setup(OperatorSpec& spec) override {
      spec.output(out, "out");
      spec.lifecycle().stage(LifecycleStage::kStop, &EndsAtOnce::end);
    }
    Contract contract() const override {
      return Contract().trigger(OnClock{std::chrono::microseconds(1)});
    }
    expected<void, Error> compute(ExecutionContext&) override { return out.close(); }

   private:
    LifecycleStatus end(LifecycleContext& context) noexcept {
      log_->add(context.cancellation().requested() ? "cancelled" : "ended");
      return LifecycleStatus::kOk;
    }
    const Log log_;
  };
  const Log log = new_log();
  Graph graph{"ended"};
  graph.op<EndsAtOnce>("source", log);
  REQUIRE(run_to_end(weftline::run_async(compiled(graph))) == RunTermination::kCompleted);
  CHECK(log->values() == std::vector<std::string>{"ended"});
}
