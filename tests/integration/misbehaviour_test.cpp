// SPDX-License-Identifier: Apache-2.0
//
// Operators that hang, throw whatever they like, or keep what is not theirs any more.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdio>

#include "test_operators.hpp"
#include "weftline/runtime/run.hpp"

using namespace test;
using weftline::Graph;
using weftline::LifecycleContext;
using weftline::LifecycleStage;
using weftline::LifecycleStatus;
using weftline::RunTermination;

namespace {

/// Everything that the process writes to the standard error during its life.
class CapturedErrors {
 public:
  CapturedErrors() {
    std::fflush(stderr);
    ::dup2(file_, STDERR_FILENO);
  }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors() {
    std::fflush(stderr);
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    ::close(file_);
  }
  [[nodiscard]] std::string text() const {
    std::fflush(stderr);
    std::string all(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    const auto got = ::pread(file_, all.data(), all.size(), 0);
    all.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return all;
  }

 private:
  int file_{::memfd_create("stderr", 0)};
  int before_{::dup(STDERR_FILENO)};
};

/// Stands before a gate in one stage, or in its first activation.
class Hangs final : public Operator<> {
 public:
  Hangs(std::shared_ptr<Gate> gate, std::optional<LifecycleStage> where)
      : gate_(std::move(gate)), where_(where) {}
  void setup(OperatorSpec& spec) override {
    if (where_) spec.lifecycle().stage(*where_, &Hangs::hang);
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    if (!where_) gate_->pass();
    return {};
  }

 private:
  LifecycleStatus hang(LifecycleContext&) noexcept {
    gate_->pass();
    return LifecycleStatus::kOk;
  }

  const std::shared_ptr<Gate> gate_;
  const std::optional<LifecycleStage> where_;
};

std::size_t late_reports(const std::vector<weftline::RunDiagnostic>& warnings,
                         const std::string& place) {
  return static_cast<std::size_t>(std::ranges::count_if(warnings, [&](const auto& warning) {
    return warning.error.token == "RUN_CALLBACK_LATE" && warning.place == place;
  }));
}

}  // namespace

TEST_CASE(
    "a callback that hangs past a stop is reported by name, again and again, and not killed") {
  const auto where =
      GENERATE(std::optional<LifecycleStage>(), std::optional(LifecycleStage::kDiscover),
               std::optional(LifecycleStage::kStop), std::optional(LifecycleStage::kRelease));
  const CapturedErrors errors;
  const auto gate = std::make_shared<Gate>();
  const OpensAtEnd opens{gate};
  Graph graph{"hanging"};
  graph.op<Hangs>("sleeper", gate, where);
  const auto runs = std::make_shared<std::atomic<bool>>(false);
  graph.op<Scripted>("other", Scripted::Script([=](ExecutionContext&) {
                       *runs = true;
                       return expected<void, Error>{};
                     }));
  auto session = weftline::run_async(compiled(graph),
                                     {.late_callback_interval = std::chrono::milliseconds(1)});
  const bool hangs_before_stop = !where || *where == LifecycleStage::kDiscover;
  if (hangs_before_stop) {
    REQUIRE(gate->wait_for_visitor());
    // As long as nobody asks for the end, a long callback is nobody's business.
    for_a_while([&] { CHECK(session.warnings().empty()); });
  } else {
    // Only what had started is stopped.
    REQUIRE(eventually(session, [&] { return runs->load(); }));
  }
  session.request_stop();
  REQUIRE(gate->wait_for_visitor());
  const std::string place =
      where ? "sleeper." + std::string(lifecycle_stage_name(*where)) : "sleeper";
  REQUIRE(eventually(session, [&] { return late_reports(session.warnings(), place) >= 3; }));
  CHECK(session.termination() == RunTermination::kRunning);
  CHECK(session.warnings().size() == late_reports(session.warnings(), place));
  CHECK(errors.text().find("weftline: " + place + ": kTimeout [RUN_CALLBACK_LATE]") !=
        std::string::npos);
  gate->open();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(session.diagnostics().empty());
}

TEST_CASE("who only waits, or destroys a session, hears of the callback that keeps him waiting") {
  const bool destroys = GENERATE(true, false);
  const CapturedErrors errors;
  const auto gate = std::make_shared<Gate>();
  const OpensAtEnd opens{gate};
  Graph graph{"hanging"};
  graph.op<Hangs>("sleeper", gate, std::optional<LifecycleStage>());
  auto session = std::make_unique<weftline::RunSession>(weftline::run_async(
      compiled(graph), {.late_callback_interval = std::chrono::milliseconds(1)}));
  REQUIRE(gate->wait_for_visitor());
  std::thread waits([&] {
    if (destroys) {
      session.reset();
    } else {
      session->request_stop();
      session->wait();
    }
  });
  const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
  while (errors.text().find("weftline: sleeper: kTimeout [RUN_CALLBACK_LATE]") ==
             std::string::npos &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
  }
  CHECK(std::chrono::steady_clock::now() < deadline);
  gate->open();
  waits.join();
}

TEST_CASE("a time of no length for late callbacks is refused") {
  Graph graph{"options"};
  graph.op<Scripted>("op", Scripted::Script([](ExecutionContext&) -> expected<void, Error> {
                       return weftline::fail(ErrorCode::kFailure, "TEST_RUNS");
                     }));
  const auto session =
      weftline::run_async(compiled(graph), {.late_callback_interval = std::chrono::nanoseconds(0)});
  CHECK(session.termination() == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].error.token == "RUN_OPTIONS_INVALID");
}

TEST_CASE("start and stop may throw what they like; a run names it and goes on taking down") {
  class Throws final : public Operator<> {
   public:
    explicit Throws(bool at_start) : at_start_(at_start) {}
    void setup(OperatorSpec&) override {}
    Contract contract() const override {
      return Contract().trigger(OnClock{std::chrono::microseconds(1)});
    }
    void start(LifecycleContext&) override {
      if (at_start_) throw std::string("a word");
    }
    expected<void, Error> compute(ExecutionContext& context) override {
      context.request_success();
      return {};
    }
    void stop(LifecycleContext&) override {
      if (!at_start_) throw weftline::RuntimeError({ErrorCode::kFailure, "MY_OWN", "words", 0});
    }

   private:
    const bool at_start_;
  };
  const bool at_start = GENERATE(true, false);
  Graph graph{"throwing"};
  graph.op<Throws>("thrower", at_start);
  const auto session = weftline::run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].to_string() ==
        (at_start ? "thrower.start: kFailure [OPERATOR_START_THREW]: an exception that is no "
                    "std::exception"
                  : "thrower.stop: kFailure [MY_OWN]: words"));
}

TEST_CASE(
    "an operator that asks for success and fails, or asks twice, is taken by its first word") {
  Graph graph{"twice"};
  graph.op<Scripted>("asks", Scripted::Script([](ExecutionContext& context) {
                       context.request_success();
                       context.request_success();
                       return expected<void, Error>{};
                     }));
  const auto session = weftline::run_async(compiled(graph));
  CHECK(run_to_end(session) == RunTermination::kCompleted);
  Graph failing{"failing"};
  failing.op<Scripted>("fails",
                       Scripted::Script([](ExecutionContext& context) -> expected<void, Error> {
                         context.request_success();
                         return weftline::fail(ErrorCode::kFailure, "TEST_BROKEN");
                       }));
  const auto failed = weftline::run_async(compiled(failing));
  CHECK(run_to_end(failed) == RunTermination::kFailed);
}

namespace {

/// Puts its loan away, for ever or for longer than its session lives.
class LeaksLoan final : public Operator<> {
 public:
  using Loan = std::shared_ptr<std::optional<weftline::TensorOutputLoan>>;
  LeaksLoan(Loan outside, bool keeps_outside)
      : outside_(std::move(outside)), keeps_outside_(keeps_outside) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out")
        .produces_tensor({.representation = {.memory_kind = weftline::MemoryKind::kHost,
                                             .dtype = DLDataType{kDLUInt, 8, 1},
                                             .rank = 1},
                          .bounds = weftline::tensor_bounds(16),
                          .storage = weftline::TensorOutputStorage::kRuntimePool});
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    static constexpr std::array<std::int64_t, 1> kShape{16};
    WEFTLINE_ASSIGN(auto loan,
                    out.allocate_tensor({.shape = kShape, .dtype = DLDataType{kDLUInt, 8, 1}}));
    (keeps_outside_ ? *outside_ : inside_).emplace(std::move(loan));
    context.request_success();
    return {};
  }

 private:
  const Loan outside_;
  const bool keeps_outside_;
  std::optional<weftline::TensorOutputLoan> inside_{};
};

class TakesTensors final : public Operator<> {
 public:
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

}  // namespace

TEST_CASE("a loan that an operator keeps ends with it, or is a harmless husk after its session") {
  const bool keeps_outside = GENERATE(false, true);
  const auto loan = std::make_shared<std::optional<weftline::TensorOutputLoan>>();
  {
    Graph graph{"leaky"};
    const auto source = graph.op<LeaksLoan>("source", loan, keeps_outside);
    const auto sink = graph.op<TakesTensors>("sink");
    graph.add_flow(source->out, sink->in);
    const auto session = weftline::run_async(compiled(graph));
    REQUIRE(run_to_end(session) == RunTermination::kCompleted);
    REQUIRE(session.counters().pools.size() == 1);
    const auto usage = session.counters().pools[0].usage;
    CHECK(usage.in_use == (keeps_outside ? 1U : 0U));
  }
  CHECK(loan->has_value() == keeps_outside);
  loan->reset();
}
