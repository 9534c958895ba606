// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <string>

#include "test_operators.hpp"

using namespace test;

namespace {

class Ticker final : public Operator<> {
 public:
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return out.emit(1); }
};

class Taker;
using Promise = std::function<Contract(const Taker&)>;

/// Takes two inputs as a test says, and counts its starts.
class Taker final : public Operator<> {
 public:
  Taker(Promise promise, std::shared_ptr<int> starts)
      : promise_(std::move(promise)), starts_(std::move(starts)) {}
  Input<std::uint64_t> a;
  Input<std::uint64_t> b;
  void setup(OperatorSpec& spec) override {
    spec.input(a, "a");
    spec.input(b, "b");
  }
  Contract contract() const override { return promise_(*this); }
  void start(weftline::LifecycleContext&) override { ++*starts_; }
  expected<void, Error> compute(ExecutionContext& context) override {
    context.request_success();
    return {};
  }

 private:
  const Promise promise_;
  const std::shared_ptr<int> starts_;
};

struct Outcome {
  std::string place{};
  std::string token{};
  int starts{0};
};

Outcome outcome_of(const Promise& promise) {
  weftline::Graph graph{"contracts"};
  const auto starts = std::make_shared<int>(0);
  const auto left = graph.op<Ticker>("left");
  const auto right = graph.op<Ticker>("right");
  const auto taker = graph.op<Taker>("taker", promise, starts);
  graph.add_flow(left->out, taker->a, {.queue_policy = weftline::QueuePolicy::kDropOldest});
  graph.add_flow(right->out, taker->b, {.queue_policy = weftline::QueuePolicy::kDropOldest});
  const auto session = weftline::run_async(compiled(graph));
  Outcome outcome;
  if (run_to_end(session) == weftline::RunTermination::kFailed) {
    outcome.place = session.diagnostics().at(0).place;
    outcome.token = std::string(session.diagnostics().at(0).error.token);
  }
  outcome.starts = *starts;
  return outcome;
}

}  // namespace

TEST_CASE("a plan whose records contradict each other is refused before anything starts") {
  using weftline::PlanRecords;
  using weftline::TemporalRecordTriggerKind;
  const auto refused = [](const std::function<void(PlanRecords&)>& change, std::string_view token,
                          std::string_view place) {
    const auto starts = std::make_shared<int>(0);
    weftline::Graph graph{"contracts"};
    const auto left = graph.op<Ticker>("left");
    const auto right = graph.op<Ticker>("right");
    const auto taker = graph.op<Taker>(
        "taker",
        [](const Taker& op) {
          return Contract()
              .trigger(weftline::OnEach{op.a})
              .select(op.b, weftline::DrainAll{.max_samples = 2},
                      weftline::ReuseLast{.max_reuses = 1});
        },
        starts);
    graph.add_flow(left->out, taker->a);
    graph.add_flow(right->out, taker->b);
    const auto plan = compiled(graph);
    PlanRecords records = plan.records();
    change(records);
    std::vector<weftline::OperatorFactory> operators;
    for (const auto& op : plan.operators()) operators.push_back(plan.operator_factory(op.id));
    const auto session = weftline::run_async(weftline::ExecutionPlan(
        std::move(records), std::move(operators), {plan.clock_factory(weftline::ClockId{0})}));
    REQUIRE(run_to_end(session) == weftline::RunTermination::kFailed);
    CHECK(session.diagnostics().at(0).error.token == token);
    CHECK(session.diagnostics().at(0).place == place);
    CHECK(*starts == 0);
  };
  const auto taker_of = [](PlanRecords& plan) -> auto& { return plan.operators[2]; };
  const auto selection_of_b = [](PlanRecords& plan) -> auto& {
    return plan.edge_selections[plan.edge_selections[0].triggering ? 1 : 0];
  };
  refused(
      [&](PlanRecords& plan) {
        taker_of(plan).trigger.kind = TemporalRecordTriggerKind::kPredicate;
      },
      "RUN_CONTRACT_UNSUPPORTED", "taker");
  refused([&](PlanRecords& plan) { taker_of(plan).trigger.inputs = {7}; }, "RUN_CONTRACT_INVALID",
          "taker");
  refused([&](PlanRecords& plan) { plan.operators[0].trigger.period_ns = 0; },
          "RUN_CONTRACT_INVALID", "left");
  refused(
      [&](PlanRecords& plan) {
        taker_of(plan).trigger.kind = TemporalRecordTriggerKind::kNotified;
        taker_of(plan).trigger.inputs.clear();
      },
      "RUN_CONTRACT_INVALID", "taker");
  refused([&](PlanRecords& plan) { selection_of_b(plan).triggering = true; },
          "RUN_CONTRACT_INVALID", "taker.b");
  refused([&](PlanRecords& plan) { selection_of_b(plan).reuse_cache = 1; }, "RUN_CONTRACT_INVALID",
          "taker.b");
}

TEST_CASE("a contract that says what is so anyway is run") {
  const Outcome outcome = outcome_of([](const Taker& taker) {
    return Contract()
        .trigger(weftline::OnAnyInput{})
        .select(taker.a, weftline::Exact{}, weftline::Absent{});
  });
  CHECK(outcome.token.empty());
  CHECK(outcome.starts == 1);
}
