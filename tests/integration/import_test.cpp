// SPDX-License-Identifier: Apache-2.0
//
// Imported topics, against producers that are no processes: what reaches the inputs, what ends
// them, and what never does.
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"
#include "weftline/testing/fake_channels.hpp"

using namespace test;
using weftline::ImportState;
using weftline::RunTermination;
using weftline::testing::FakeChannels;

namespace {

/// Passes on what it gets until it has had enough; then it closes its output.
class TakesSome final : public Operator<> {
 public:
  explicit TakesSome(std::uint64_t count) : count_(count) {}
  Input<std::uint64_t> in;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_TRY(out.emit(sample.data));
    return --count_ == 0 ? out.close() : expected<void, Error>{};
  }

 private:
  std::uint64_t count_;
};

weftline::TopicOptions topic(std::uint32_t depth = 4) {
  weftline::TopicOptions options;
  options.endpoint_name = "numbers";
  options.queue_depth = depth;
  return options;
}

struct Importing {
  weftline::Graph graph{"importing"};
  weftline::ImportedTopic<std::uint64_t> numbers =
      graph.import_topic<std::uint64_t>("weftline://numbers", topic());
  Collector::Values values = std::make_shared<Collected<std::uint64_t>>();
  FakeChannels channels{};
  weftline::testing::FakeProducer& producer = channels.producer("numbers");
};

}  // namespace

TEST_CASE("an import's samples reach its inputs once and in order, then its end") {
  Importing all;
  const auto add = all.graph.op<AddStep>("add", 100U);
  const auto sink = all.graph.op<Collector>("sink", all.values);
  const auto other_values = std::make_shared<Collected<std::uint64_t>>();
  const auto other = all.graph.op<Collector>("other", other_values);
  all.graph.add_flow(all.numbers.output(), add->in);
  all.graph.add_flow(all.numbers.output(), other->in);
  all.graph.add_flow(add->out, sink->in);
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  constexpr std::uint64_t kSamples = 300;  // far more than the queues hold
  all.producer.attach(7);
  for (std::uint64_t value = 0; value < kSamples; ++value) all.producer.send(value);
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(all.values->values() == counting(kSamples, 100));
  CHECK(other_values->values() == counting(kSamples));
  const auto import = session.counters().imports.at(0);
  CHECK(import.received == kSamples);
  CHECK(import.generation == 1);
  CHECK(import.state == ImportState::kEnded);
}

TEST_CASE("a producer that comes late, is silent, or vanishes ends nothing") {
  Importing all;
  const auto sink = all.graph.op<Collector>("sink", all.values);
  all.graph.add_flow(all.numbers.output(), sink->in);
  const auto plan = compiled(all.graph);
  auto session = all.channels.run_async(plan);
  for_a_while([&] { REQUIRE(session.termination() == RunTermination::kRunning); });
  all.producer.attach(7);
  all.producer.send(std::uint64_t{5});
  REQUIRE(all.values->wait_for_count(1));
  all.producer.leave();
  for_a_while([&] { REQUIRE(session.termination() == RunTermination::kRunning); });
  CHECK(session.counters().imports.at(0).state == ImportState::kOpen);
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a full input leaves an import's samples with its producer") {
  Importing all;
  const auto gate = std::make_shared<Gate>();
  const auto sink = all.graph.op<Collector>("sink", all.values, gate);
  all.graph.add_flow(all.numbers.output(), sink->in);
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  const OpensAtEnd open{gate};
  all.producer.attach(7);
  for (std::uint64_t value = 0; value < 20; ++value) all.producer.send(value);
  REQUIRE(gate->wait_for_visitor());
  for_a_while([&] { REQUIRE(all.producer.unread() >= 20 - 4 - 1); });
  gate->open();
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(all.values->values() == counting(20));
}

TEST_CASE("an import whose operators have all finished does not keep the run alive") {
  Importing all;
  const auto some = all.graph.op<TakesSome>("some", 3U);
  const auto sink = all.graph.op<Collector>("sink", all.values);
  all.graph.add_flow(all.numbers.output(), some->in);
  all.graph.add_flow(some->out, sink->in);
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  all.producer.attach(7);
  for (std::uint64_t value = 0; value < 50; ++value) all.producer.send(value);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(all.values->values() == counting(3));
}

TEST_CASE("an import that breaks fails the run with the endpoint's name") {
  Importing all;
  const auto sink = all.graph.op<Collector>("sink", all.values);
  all.graph.add_flow(all.numbers.output(), sink->in);
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  all.producer.fail_take({ErrorCode::kProtocolError, "TEST_BROKEN", {}, 0});
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics().at(0).place == "endpoint numbers");
  CHECK(session.diagnostics().at(0).error.token == "TEST_BROKEN");
}

TEST_CASE("fan-in waits for every input that its trigger needs, side by side with an import") {
  Importing all;
  const auto source = all.graph.op<CountingSource>("source", 5U);
  const auto add = all.graph.op<AddStep>("add", 100U);
  const auto left = all.graph.op<Collector>("left", all.values);
  all.graph.add_flow(source->out, add->in);
  all.graph.add_flow(add->out, left->in);
  const auto imported = std::make_shared<Collected<std::uint64_t>>();
  const auto right = all.graph.op<Collector>("right", imported);
  all.graph.add_flow(all.numbers.output(), right->in);
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  // The finite part is through; the import keeps the run going until it ends.
  REQUIRE(all.values->wait_for_count(5));
  for_a_while([&] { REQUIRE(session.termination() == RunTermination::kRunning); });
  all.producer.attach(1);
  all.producer.end();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
}
