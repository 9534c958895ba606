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

TEST_CASE("a contract that this runtime does not run is refused before anything starts") {
  using namespace std::chrono_literals;
  const auto refused = [](const Promise& promise, std::string_view place) {
    const Outcome outcome = outcome_of(promise);
    CHECK(outcome.token == "RUN_CONTRACT_UNSUPPORTED");
    CHECK(outcome.place == place);
    CHECK(outcome.starts == 0);
  };
  refused(
      [](const Taker& taker) {
        return Contract()
            .trigger(weftline::OnEach{taker.a})
            .select(taker.b, weftline::LatestWithin{.max_age = 1ms});
      },
      "taker.b");
  refused(
      [](const Taker& taker) {
        return Contract()
            .trigger(
                weftline::OnWindow{.anchor = taker.a, .max_wait = 1ms, .max_pending_windows = 1})
            .select(taker.b, weftline::DrainAll{.max_samples = 1});
      },
      "taker");
  refused(
      [](const Taker& taker) {
        return Contract()
            .trigger(weftline::OnAnyInput{})
            .select(taker.b, weftline::Exact{}, weftline::ReuseLast{.max_reuses = 1});
      },
      "taker.b");
  refused(
      [](const Taker&) { return Contract().max_start_delay(1ms, weftline::OnViolation::kReport); },
      "taker");
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
