// SPDX-License-Identifier: Apache-2.0
//
// One output, or one import, feeds the trigger and a side input of the same operator.
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"
#include "weftline/testing/fake_channels.hpp"

using namespace test;
using weftline::RunTermination;
using weftline::SampleMetadata;
using weftline::testing::FakeChannels;

namespace {

/// Runs for each sample of one input, and has to find its twin at the other.
class Twins final : public Operator<> {
 public:
  explicit Twins(Collector::Values values) : values_(std::move(values)) {}
  // The trigger is declared, and connected, first.
  Input<std::uint64_t> in;
  Input<std::uint64_t> twin;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.input(twin, "twin");
  }
  Contract contract() const override {
    return Contract().trigger(OnEach{in}).select(twin, weftline::Exact{}, weftline::Fail{});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_ASSIGN(const auto other, twin.receive());
    if (other.data == sample.data) values_->add(sample.data);
    return {};
  }

 private:
  const Collector::Values values_;
};

constexpr std::uint64_t kSamples = 20'000;

}  // namespace

TEST_CASE("a sample that one output gives to a trigger and a side input is at both when it fires") {
  weftline::Graph graph{"fork"};
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  const auto source = graph.op<CountingSource>("source", kSamples);
  const auto twins = graph.op<Twins>("twins", values);
  graph.add_flow(source->out, twins->in);
  graph.add_flow(source->out, twins->twin);
  graph.partition("a").add(source);
  graph.partition("b").add(twins);
  const auto session = weftline::run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(values->values() == counting(kSamples));
}

TEST_CASE("a sample that an import gives to a trigger and a side input is at both when it fires") {
  weftline::Graph graph{"fork"};
  weftline::TopicOptions options;
  options.endpoint_name = "numbers";
  options.queue_depth = 4;
  const auto numbers = graph.import_topic<std::uint64_t>("weftline://numbers", options);
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  const auto first_values = std::make_shared<Collected<std::uint64_t>>();
  // The import is worked on the lane of the first of its inputs.
  const auto first = graph.op<Collector>("a-first", first_values);
  const auto twins = graph.op<Twins>("twins", values);
  graph.add_flow(numbers.output(), first->in);
  graph.add_flow(numbers.output(), twins->in);
  graph.add_flow(numbers.output(), twins->twin);
  graph.partition("a").add(first);
  graph.partition("b").add(twins);
  FakeChannels channels;
  auto& producer = channels.producer("numbers");
  producer.attach(7);
  for (std::uint64_t value = 0; value < kSamples; ++value) {
    SampleMetadata metadata;
    metadata.capture = weftline::TimePoint{static_cast<std::int64_t>(value), weftline::ClockId{0}};
    producer.send(value, metadata);
  }
  producer.end();
  const auto session = channels.run_async(compiled(graph));
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(values->values() == counting(kSamples));
}
