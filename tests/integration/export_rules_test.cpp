// SPDX-License-Identifier: Apache-2.0
//
// What an output owes its exports: who has to be there, who has the sample, and in what order the
// end comes. Against subscribers that are no processes.
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"
#include "weftline/testing/fake_channels.hpp"

using namespace test;
using weftline::PeerRequirement;
using weftline::RunTermination;
using weftline::testing::FakeChannels;
using weftline::testing::FakeSubscriber;

namespace {

weftline::TopicOptions topic(const std::string& name,
                             PeerRequirement peer = PeerRequirement::kRequired) {
  weftline::TopicOptions options;
  options.endpoint_name = name;
  options.attach = {.peer = peer, .wait = kWatchdog};
  return options;
}

/// A source of `count` numbers, a collector of them, and exports of the same output.
struct Exporting {
  weftline::Graph graph{"exporting"};
  weftline::OperatorHandle<CountingSource> source;
  Collector::Values values = std::make_shared<Collected<std::uint64_t>>();
  FakeChannels channels{};

  explicit Exporting(std::uint64_t count, std::shared_ptr<Gate> gate = nullptr)
      : source(graph.op<CountingSource>("source", count)) {
    graph.add_flow(source->out, graph.op<Collector>("sink", values, std::move(gate))->in);
  }
  void to(const std::string& name, PeerRequirement peer = PeerRequirement::kRequired) {
    graph.add_flow(
        source->out,
        graph.export_topic<std::uint64_t>("weftline://" + name, topic(name, peer)).input());
  }
};

std::vector<std::uint64_t> bodies(const FakeSubscriber& subscriber) {
  std::vector<std::uint64_t> values;
  for (const auto& sample : subscriber.received()) values.push_back(sample.as<std::uint64_t>());
  return values;
}

/// Emits one sample a tick and reports what came of it; ends after the first that is not retryable.
class Reporting final : public Operator<> {
 public:
  explicit Reporting(std::shared_ptr<Collected<ErrorCode>> outcomes)
      : outcomes_(std::move(outcomes)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    auto emitted = out.emit(next_);
    if (emitted) {
      ++next_;
      return {};
    }
    outcomes_->add(emitted.error().code);
    return weftline::is_retryable(emitted.error().code) ? expected<void, Error>{} : out.close();
  }

 private:
  const std::shared_ptr<Collected<ErrorCode>> outcomes_;
  std::uint64_t next_{0};
};

}  // namespace

TEST_CASE("a subscriber gets all samples before the end of the stream") {
  Exporting all(100);
  all.to("numbers");
  all.channels.subscriber("numbers").attach();
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(bodies(all.channels.subscriber("numbers")) == counting(100));
  CHECK(all.channels.subscriber("numbers").ended());
  CHECK(all.values->values() == counting(100));
}

TEST_CASE("a required subscriber may be replaced while the source still runs") {
  Exporting all(0);
  all.to("numbers");
  auto& subscriber = all.channels.subscriber("numbers");
  subscriber.attach();
  const auto plan = compiled(all.graph);
  auto session = all.channels.run_async(plan);
  REQUIRE(subscriber.wait_for_count(3));
  subscriber.leave();
  // While the source still runs, another may come.
  for_a_while([&] { REQUIRE(session.termination() == RunTermination::kRunning); });
  subscriber.attach();
  REQUIRE(subscriber.wait_for_count(subscriber.received().size() + 3));
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("a run whose required subscriber left with samples does not end as completed") {
  const auto gate = std::make_shared<Gate>();
  weftline::Graph graph{"drain"};
  FakeChannels channels;
  auto& subscriber = channels.subscriber("numbers");
  subscriber.attach();
  const auto source = graph.op<CountingSource>("source", 4U);
  const auto add = graph.op<AddStep>("add", 1U);
  graph.add_flow(source->out, add->in, {.queue_depth = 8});
  graph.add_flow(add->out,
                 graph.export_topic<std::uint64_t>("weftline://numbers", topic("numbers")).input());
  subscriber.accept_in_all(2);
  const auto plan = compiled(graph);
  const auto session = channels.run_async(plan);
  REQUIRE(subscriber.wait_for_count(2));
  // Two samples wait in the queue, and the source has closed it: nothing is left but to drain.
  REQUIRE(eventually(session,
                     [&] { return counters_of(plan, session.counters(), "source").finished; }));
  subscriber.leave();
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  CHECK(session.diagnostics().at(0).place == "endpoint numbers");
  CHECK(session.diagnostics().at(0).error.token == "EXPORT_PEER_LOST");
}

TEST_CASE("an optional subscriber that leaves loses samples, and the run completes") {
  Exporting all(200);
  all.to("numbers", PeerRequirement::kOptional);
  auto& subscriber = all.channels.subscriber("numbers");
  subscriber.attach();
  subscriber.accept_in_all(10);
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  REQUIRE(subscriber.wait_for_count(10));
  subscriber.leave();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const auto counters = session.counters().exports.at(0);
  CHECK(counters.published == 10);
  CHECK(counters.without_recipient == 190);
  CHECK(all.values->values() == counting(200));
}

TEST_CASE("a stop ends the wait for a required subscriber that never comes") {
  Exporting all(1);
  all.to("numbers");
  const auto plan = compiled(all.graph);
  auto session = all.channels.run_async(plan);
  for_a_while([&] { REQUIRE(session.termination() == RunTermination::kRunning); });
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
}

TEST_CASE("one full export of two holds the sample back from both, and from the edges") {
  Exporting all(50);
  all.to("first");
  all.to("second");
  auto& first = all.channels.subscriber("first");
  auto& second = all.channels.subscriber("second");
  first.attach();
  second.attach();
  second.accept_in_all(7);
  const auto plan = compiled(all.graph);
  const auto session = all.channels.run_async(plan);
  REQUIRE(second.wait_for_count(7));
  for_a_while([&] {
    REQUIRE(first.received().size() <= 7);
    REQUIRE(all.values->values().size() <= 7);
  });
  second.accept_in_all(1'000);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(bodies(first) == counting(50));
  CHECK(bodies(second) == counting(50));
  CHECK(all.values->values() == counting(50));
}

TEST_CASE("a publication that reached some says so with counts, and its number is used up") {
  const auto outcomes = std::make_shared<Collected<ErrorCode>>();
  const auto run = [&](Error answer, const std::string& at) {
    weftline::Graph graph{"partial"};
    FakeChannels channels;
    const auto source = graph.op<Reporting>("source", outcomes);
    for (const char* name : {"first", "second"}) {
      graph.add_flow(
          source->out,
          graph.export_topic<std::uint64_t>("weftline://" + std::string(name), topic(name))
              .input());
      channels.subscriber(name).attach();
    }
    channels.subscriber(at).answer(std::move(answer));
    const auto plan = compiled(graph);
    const auto session = channels.run_async(plan);
    REQUIRE(run_to_end(session) == RunTermination::kCompleted);
    const std::vector<ErrorCode> seen = outcomes->values();
    REQUIRE_FALSE(seen.empty());
    return std::make_pair(seen.back(), channels.subscriber("first").received().size());
  };
  using weftline::ErrorCode;
  const Error broken{ErrorCode::kFailure, "TEST_BROKEN", {}, 0};
  const Error unknown{ErrorCode::kPublicationIndeterminate, "TEST_UNKNOWN", {}, 0};
  CHECK(run(broken, "second") == std::make_pair(ErrorCode::kPublicationPartial, std::size_t{1}));
  CHECK(run(broken, "first") == std::make_pair(ErrorCode::kFailure, std::size_t{0}));
  CHECK(run(unknown, "second") ==
        std::make_pair(ErrorCode::kPublicationIndeterminate, std::size_t{1}));
  CHECK(run(unknown, "first") ==
        std::make_pair(ErrorCode::kPublicationIndeterminate, std::size_t{0}));
}
