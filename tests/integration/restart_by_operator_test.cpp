// SPDX-License-Identifier: Apache-2.0
//
// Restarts that operators ask for in compute().
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "test_operators.hpp"

using namespace test;
using weftline::CompileOptions;
using weftline::LifecycleReceipt;
using weftline::LifecycleStage;
using weftline::RestartRequest;
using weftline::RunTermination;
using State = weftline::LifecycleTransactionState;

namespace {

/// One activation of one instance, each counted from 0.
struct Turn {
  std::uint64_t instance{0};
  std::uint64_t call{0};
  friend bool operator==(const Turn&, const Turn&) = default;
};

/// What the instances of an operator share. Their lane's, and the test's when the run is over.
struct Life {
  using Step =
      std::function<expected<void, Error>(ExecutionContext&, Turn, Output<std::uint64_t>&)>;
  Step step;
  std::uint64_t instances{0};
  std::vector<Turn> turns{};
  std::vector<LifecycleReceipt> receipts{};
  std::vector<std::string> tokens{};

  void ask(ExecutionContext& context, const RestartRequest& request = {}) {
    auto asked = context.request_restart(request);
    tokens.emplace_back(asked ? "-" : asked.error().token);
    if (asked) receipts.push_back(std::move(*asked));
  }
};

/// Takes a turn at each tick.
class Turning final : public Operator<> {
 public:
  explicit Turning(std::shared_ptr<Life> life) : life_(std::move(life)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (!instance_) instance_ = life_->instances++;
    const Turn now{*instance_, calls_++};
    life_->turns.push_back(now);
    return life_->step(context, now, out);
  }

 private:
  const std::shared_ptr<Life> life_;
  std::optional<std::uint64_t> instance_{};
  std::uint64_t calls_{0};
};

std::shared_ptr<Life> life(Life::Step step) {
  auto made = std::make_shared<Life>();
  made->step = std::move(step);
  return made;
}

weftline::ExecutionPlan compile(weftline::Graph& graph, bool restarts = true) {
  use_realtime_clock(graph);
  CompileOptions options;
  if (restarts) options.lifecycle_transactions.emplace();
  auto plan = weftline::compile(graph, options);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  return plan;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("an operator that asks for its restart is next activated when it has been restarted") {
  const bool fresh = GENERATE(true, false);
  weftline::Graph graph{"own"};
  std::shared_ptr<Life> own;
  own = life(
      [&](ExecutionContext& context, Turn now, Output<std::uint64_t>&) -> expected<void, Error> {
        // Whatever it was asked before is over.
        for (const auto& receipt : own->receipts) {
          if (receipt.view().state != State::kCommitted)
            return weftline::fail(ErrorCode::kFailure, "TEST_NOT_OVER");
        }
        if (own->receipts.size() == 20) {
          context.request_success();
        } else if (now.call % 4 == 3) {
          own->ask(context, {.reason = "a reason that is longer than a string keeps in place"});
        }
        return {};
      });
  const auto op = graph.op<Turning>("op", own);
  graph.grant_restart(op, op,
                      {.from_stage = fresh ? LifecycleStage::kConfigure : LifecycleStage::kStart});
  const auto plan = compile(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(session.counters().restarts.committed == 20);
  CHECK(own->tokens == Words(20, "-"));
  CHECK(own->instances == (fresh ? 21 : 1));
  REQUIRE(own->turns.size() == 81);
  for (std::uint64_t turn = 0; turn < own->turns.size(); ++turn) {
    CHECK(own->turns[turn] == (fresh ? Turn{turn / 4, turn % 4} : Turn{0, turn}));
  }
  for (std::uint64_t round = 0; round < 20; ++round) {
    const auto view = own->receipts[round].view();
    CHECK(view.candidate_generation == round + 2);
    CHECK(view.reason == "a reason that is longer than a string keeps in place");
  }
}

TEST_CASE("no other operator of the lane runs before a restart that one of them has asked for") {
  weftline::Graph graph{"lane"};
  bool asked = false;
  std::uint64_t between = 0;
  std::shared_ptr<Life> own;
  own = life(
      [&](ExecutionContext& context, Turn now, Output<std::uint64_t>&) -> expected<void, Error> {
        asked = now.call % 3 == 2;
        if (own->receipts.size() == 10) context.request_success();
        if (asked) own->ask(context);
        return {};
      });
  const auto op = graph.op<Turning>("op", own);
  const auto other =
      graph.op<Scripted>("other", Scripted::Script([&](ExecutionContext&) -> expected<void, Error> {
                           if (asked && own->receipts.back().view().state != State::kCommitted)
                             ++between;
                           return {};
                         }));
  graph.grant_restart(op, op);
  graph.partition("lane").add(op).add(other);
  const auto plan = compile(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(between == 0);
}

TEST_CASE("an operator asks once in an activation for one restart, and again in the next") {
  weftline::Graph graph{"twice"};
  std::shared_ptr<Life> own;
  own = life(
      [&](ExecutionContext& context, Turn now, Output<std::uint64_t>&) -> expected<void, Error> {
        if (now.call == 2) {
          context.request_success();
        } else {
          own->ask(context);
          own->ask(context);
        }
        return {};
      });
  const auto op = graph.op<Turning>("op", own);
  graph.grant_restart(op, op);
  const auto plan = compile(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(own->tokens == Words{"-", "RESTART_ALREADY_PENDING", "-", "RESTART_ALREADY_PENDING"});
  CHECK(session.counters().restarts.committed == 2);
  CHECK(session.counters().restarts.rejected == 2);
}

TEST_CASE("an operator is refused what nobody granted, and goes on") {
  const bool restarts = GENERATE(true, false);
  weftline::Graph graph{"refused"};
  std::shared_ptr<Life> own;
  own = life(
      [&](ExecutionContext& context, Turn now, Output<std::uint64_t>&) -> expected<void, Error> {
        own->ask(context);
        if (now.call < 2) return {};
        context.request_success();
        own->ask(context);
        return {};
      });
  graph.op<Turning>("op", own);
  const auto plan = compile(graph, restarts);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const std::string token = restarts ? "RESTART_NOT_GRANTED" : "RESTART_DISABLED";
  CHECK(own->tokens == Words{token, token, token, "RESTART_SESSION_ENDING"});
  CHECK(own->turns.size() == 3);
}

TEST_CASE("a supervisor restarts another operator, which may be on another lane") {
  const bool apart = GENERATE(false, true);
  weftline::Graph graph{"supervised"};
  const auto worked = std::make_shared<std::atomic<std::uint64_t>>(~std::uint64_t{0});
  const auto worker_life =
      life([&](ExecutionContext&, Turn now, Output<std::uint64_t>&) -> expected<void, Error> {
        worked->store(now.instance);
        return {};
      });
  std::shared_ptr<Life> own;
  own = life([&](ExecutionContext& context, Turn, Output<std::uint64_t>&) -> expected<void, Error> {
    // The instance that it has asked for has run.
    if (own->receipts.size() == 5 && worked->load() == 5) context.request_success();
    if (own->receipts.size() < 5 && worked->load() == own->receipts.size()) {
      own->ask(context, {.target = "worker", .from_stage = LifecycleStage::kConfigure});
    }
    return {};
  });
  const auto worker = graph.op<Turning>("worker", worker_life);
  const auto supervisor = graph.op<Turning>("supervisor", own);
  graph.grant_restart(supervisor, worker, {.from_stage = LifecycleStage::kConfigure});
  graph.partition("one").add(worker);
  graph.partition(apart ? "two" : "one").add(supervisor);
  const auto plan = compile(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(worker_life->instances == 6);
  CHECK(own->instances == 1);
  CHECK(session.counters().restarts.committed == 5);
}

TEST_CASE("what is refused when its turn comes is in the receipt, and the run ends as it would") {
  weftline::Graph graph{"finished"};
  std::shared_ptr<Life> own;
  own = life([&](ExecutionContext& context, Turn, Output<std::uint64_t>& out) {
    own->ask(context);
    return out.close();
  });
  const auto op = graph.op<Turning>("op", own);
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  graph.add_flow(op->out, graph.op<Collector>("sink", values)->in);
  graph.grant_restart(op, op);
  const auto plan = compile(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  REQUIRE(own->receipts.size() == 1);
  CHECK(own->receipts[0].view().state == State::kRejected);
  CHECK(own->receipts[0].view().error.token == "RESTART_TARGET_FINISHED");
  CHECK(session.counters().restarts.rejected == 1);
}

TEST_CASE("a stop that comes with a request ends the run, and the receipt is final") {
  for (int round = 0; round < 50; ++round) {
    weftline::Graph graph{"stopped"};
    Collected<std::uint64_t> asked;
    std::shared_ptr<Life> own;
    own =
        life([&](ExecutionContext& context, Turn, Output<std::uint64_t>&) -> expected<void, Error> {
          own->ask(context);
          asked.add(1);
          return {};
        });
    const auto op = graph.op<Turning>("op", own);
    graph.grant_restart(op, op);
    const auto plan = compile(graph);
    auto session = weftline::run_async(plan);
    REQUIRE(asked.wait_for_count(1));
    session.request_stop();
    REQUIRE(run_to_end(session) == RunTermination::kStopped);
    for (const auto& receipt : own->receipts) CHECK(is_final(receipt.view().state));
  }
}
