// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <stdexcept>

#include "test_operators.hpp"

using namespace test;
using weftline::Graph;
using weftline::QueuePolicy;
using weftline::RunTermination;

namespace {

using Values = Collector::Values;

Values collected() { return std::make_shared<Collected<std::uint64_t>>(); }

}  // namespace

TEST_CASE("every sample arrives in order and the run completes at the end of the stream") {
  const bool one_lane = GENERATE(true, false);
  Graph graph{"chain"};
  const auto values = collected();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{10'000});
  const auto add = graph.op<AddStep>("add", std::uint64_t{5});
  const auto sink = graph.op<Collector>("sink", values);
  graph.add_flow(source->out, add->in);
  graph.add_flow(add->out, sink->in);
  if (!one_lane) {
    graph.partition("a").add(source);
    graph.partition("b").add(add);
    graph.partition("c").add(sink);
  }
  const auto plan = compiled(graph);
  REQUIRE(plan.execution_partitions().size() == (one_lane ? 1 : 3));
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(values->values() == counting(10'000, 5));
  CHECK(session.diagnostics().empty());
}

TEST_CASE("a plan runs after its graph is gone, and more than once") {
  const auto values = collected();
  const auto plan = [&] {
    Graph graph{"gone"};
    const auto source = graph.op<CountingSource>("source", std::uint64_t{10});
    const auto sink = graph.op<Collector>("sink", values);
    graph.add_flow(source->out, sink->in);
    return compiled(graph);
  }();
  REQUIRE(run_to_end(weftline::run_async(plan)) == RunTermination::kCompleted);
  REQUIRE(run_to_end(weftline::run_async(plan)) == RunTermination::kCompleted);
  CHECK(values->values().size() == 20);
}

TEST_CASE("each arm of a fork gets every sample") {
  Graph graph{"fork"};
  const auto left = collected();
  const auto right = collected();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{2'000});
  const auto a = graph.op<Collector>("left", left);
  const auto b = graph.op<Collector>("right", right);
  graph.add_flow(source->out, a->in, {.queue_depth = 1});
  graph.add_flow(source->out, b->in, {.queue_depth = 7});
  const auto session = weftline::run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(left->values() == counting(2'000));
  CHECK(right->values() == counting(2'000));
}

TEST_CASE("a drop-oldest edge keeps the newest samples in order and counts the rest") {
  Graph graph{"lossy"};
  const auto gate = std::make_shared<Gate>();
  const auto values = collected();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{1'000});
  const auto sink = graph.op<Collector>("sink", values, gate);
  graph.add_flow(source->out, sink->in,
                 {.queue_depth = 4, .queue_policy = QueuePolicy::kDropOldest});
  graph.partition("a").add(source);
  graph.partition("b").add(sink);
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  REQUIRE(eventually(session,
                     [&] { return counters_of(plan, session.counters(), "source").finished; }));
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  // The four newest were queued; before them came what the sink had in hand, unless it first looked
  // when all had been emitted.
  const auto received = values->values();
  REQUIRE((received.size() == 4 || received.size() == 5));
  CHECK(std::vector(received.end() - 4, received.end()) == counting(4, 996));
  CHECK(received.front() <= 996);
  CHECK(session.counters().edges[0].dropped == 1'000 - received.size());
}

TEST_CASE("an error of compute ends the run as failed, under the operator's name") {
  Graph graph{"failing"};
  graph.op<Scripted>("culprit", Scripted::Script([](ExecutionContext&) -> expected<void, Error> {
                       return weftline::fail(ErrorCode::kFailure, "TEST_BROKEN",
                                             "the lens fell off");
                     }));
  graph.op<Scripted>("bystander",
                     Scripted::Script([](ExecutionContext&) { return expected<void, Error>{}; }));
  const auto session = weftline::run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  CHECK(session.diagnostics()[0].to_string() ==
        "culprit: kFailure [TEST_BROKEN]: the lens fell off");
}

TEST_CASE("an exception of compute is an error, not the end of the process") {
  Graph graph{"throwing"};
  graph.op<Scripted>("culprit", Scripted::Script([](ExecutionContext&) -> expected<void, Error> {
                       throw std::runtime_error("out of film");
                     }));
  const auto session = weftline::run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics()[0].error.token == "OPERATOR_THREW");
  CHECK(session.diagnostics()[0].error.message == "out of film");
}

TEST_CASE("request_stop ends an endless run, from any thread, as often as one likes") {
  Graph graph{"endless"};
  const auto values = collected();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{0});
  const auto sink = graph.op<Collector>("sink", values);
  graph.add_flow(source->out, sink->in);
  auto session = weftline::run_async(compiled(graph));
  REQUIRE(values->wait_for_count(100));
  session.request_stop();
  session.request_stop();
  REQUIRE(run_to_end(session) == RunTermination::kStopped);
  session.request_stop();
  CHECK(session.termination() == RunTermination::kStopped);
}

TEST_CASE("an operator can end the whole run as a success") {
  Graph graph{"success"};
  graph.op<Scripted>("decides", Scripted::Script([](ExecutionContext& context) {
                       context.request_success();
                       return expected<void, Error>{};
                     }));
  CHECK(run_to_end(weftline::run_async(compiled(graph))) == RunTermination::kCompleted);
}

namespace {

class Lifecycle final : public Operator<> {
 public:
  using Log = std::shared_ptr<Collected<std::string>>;
  Lifecycle(Log log, std::string name, bool throws)
      : log_(std::move(log)), name_(std::move(name)), throws_(throws) {}
  void setup(OperatorSpec&) override {}
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  void start(weftline::LifecycleContext&) override {
    log_->add("start " + name_);
    if (throws_) throw std::runtime_error("no power");
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    context.request_success();
    return {};
  }
  void stop(weftline::LifecycleContext&) override { log_->add("stop " + name_); }

 private:
  const Log log_;
  const std::string name_;
  const bool throws_;
};

}  // namespace

TEST_CASE("start and stop frame the run, in opposite orders") {
  Graph graph{"lifecycle"};
  const auto log = std::make_shared<Collected<std::string>>();
  graph.op<Lifecycle>("a", log, std::string("a"), false);
  graph.op<Lifecycle>("b", log, std::string("b"), false);
  REQUIRE(run_to_end(weftline::run_async(compiled(graph))) == RunTermination::kCompleted);
  CHECK(log->values() == std::vector<std::string>{"start a", "start b", "stop b", "stop a"});
}

TEST_CASE("a start that throws fails the run and stops only what had started") {
  Graph graph{"lifecycle"};
  const auto log = std::make_shared<Collected<std::string>>();
  graph.op<Lifecycle>("a", log, std::string("a"), false);
  graph.op<Lifecycle>("b", log, std::string("b"), true);
  graph.op<Lifecycle>("c", log, std::string("c"), false);
  const auto session = weftline::run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(log->values() == std::vector<std::string>{"start a", "start b", "stop a"});
  CHECK(session.diagnostics()[0].to_string() ==
        "b.start: kFailure [OPERATOR_START_THREW]: no power");
}

TEST_CASE("a rejected plan gives a failed session that says why") {
  Graph graph{"rejected"};
  graph.op<Collector>("lonely", collected());
  const auto plan = weftline::compile(graph);
  REQUIRE_FALSE(plan.ok());
  const auto session = weftline::run_async(plan);
  CHECK(session.termination() == RunTermination::kFailed);
  CHECK(session.diagnostics()[0].error.token == "RUN_PLAN_REJECTED");
  CHECK(session.diagnostics()[0].error.message.find("lonely") != std::string::npos);
  CHECK(session.counters().operators.empty());
}

TEST_CASE("a device that this machine lacks fails the session before anything starts") {
  weftline::PlanRecords records;
  Graph graph{"elsewhere"};
  use_realtime_clock(graph);
  const auto log = std::make_shared<Collected<std::string>>();
  graph.op<Lifecycle>("a", log, std::string("a"), false);
  const auto plan = weftline::compile(graph);
  records = plan.records();
  records.operators[0].device = weftline::DeviceId{weftline::DeviceKind::kEmulated, 7};
  const weftline::ExecutionPlan moved(records, {plan.operator_factory(weftline::VertexId{0})},
                                      {plan.clock_factory(weftline::ClockId{0})});
  const auto session = weftline::run_async(moved);
  CHECK(session.termination() == RunTermination::kFailed);
  CHECK(session.diagnostics()[0].place == "emulated:7");
  CHECK(log->values().empty());
}
