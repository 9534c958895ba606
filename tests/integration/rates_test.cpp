// SPDX-License-Identifier: Apache-2.0
//
// Rates from the authoring call to the running operator.

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "test_operators.hpp"

using namespace test;
using weftline::PortRateView;
using weftline::Rate;

namespace {

/// "kind/basis: nominal up to maximum", as numbers.
std::string show(const PortRateView& rate) {
  const auto fraction = [](const std::optional<weftline::Rational>& value) {
    return value ? value->to_string() : std::string("-");
  };
  return std::to_string(static_cast<int>(rate.kind)) + "/" +
         std::to_string(static_cast<int>(rate.basis)) + ": " + fraction(rate.nominal) + " up to " +
         fraction(rate.maximum);
}

/// Counts up, and states its rate as a test wants it.
class RatedSource final : public Operator<> {
 public:
  using Statement = std::function<void(weftline::OutputSpecBuilder)>;
  RatedSource(std::uint64_t count, Statement statement)
      : count_(count), statement_(std::move(statement)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { statement_(spec.output(out, "out")); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (next_ == count_) return out.close();
    auto emitted =
        out.emit(next_, {.capture_time = context.clock().at_ns(static_cast<std::int64_t>(next_))});
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    if (emitted) ++next_;
    return emitted;
  }

 private:
  const std::uint64_t count_;
  const Statement statement_;
  std::uint64_t next_{0};
};

/// Passes every n-th sample on, and writes down what its contexts say of its ports.
class Thin final : public Operator<> {
 public:
  using Seen = std::shared_ptr<Collected<std::string>>;
  Thin(std::uint64_t every, Seen seen) : every_(every), seen_(std::move(seen)) {}
  Input<std::uint64_t> in;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out").follows(in, {1, every_});
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  void start(weftline::LifecycleContext& context) override { write_down(context); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    if (sample.data == 0) write_down(context);
    if ((sample.data + 1) % every_ != 0) return {};
    return out.emit(sample.data, {.capture_time = sample.metadata.capture});
  }

 private:
  template <class Context>
  void write_down(const Context& context) {
    const Output<std::uint64_t> elsewhere;
    seen_->add(show(context.rate(in)));
    seen_->add(show(context.rate(out)));
    seen_->add(show(context.rate(elsewhere)));
  }

  const std::uint64_t every_;
  const Seen seen_;
};

/// Takes samples of two inputs with the same capture time.
class Pair final : public Operator<> {
 public:
  explicit Pair(Collector::Values values) : values_(std::move(values)) {}
  Input<std::uint64_t> all;
  Input<std::uint64_t> some;
  void setup(OperatorSpec& spec) override {
    spec.input(all, "all");
    spec.input(some, "some");
  }
  Contract contract() const override {
    return Contract().trigger(weftline::OnAligned{.inputs = {all, some}});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto left, all.receive());
    WEFTLINE_ASSIGN(const auto right, some.receive());
    if (left.data != right.data)
      return weftline::fail(ErrorCode::kFailure, "TEST_PAIR", "two samples of different times");
    values_->add(left.data);
    return {};
  }

 private:
  const Collector::Values values_;
};

TEST_CASE("start() and compute() see the rates of their own ports") {
  weftline::Graph graph{"rates"};
  const auto seen = std::make_shared<Collected<std::string>>();
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  const auto source = graph.op<RatedSource>("source", std::uint64_t{8}, [](auto out) {
    out.lifecycle_nominal_rate(Rate::hz(60)).max_nominal_rate(Rate::hz(120));
  });
  const auto thin = graph.op<Thin>("thin", std::uint64_t{4}, seen);
  const auto sink = graph.op<Collector>("sink", values);
  graph.add_flow(source->out, thin->in);
  graph.add_flow(thin->out, sink->in);
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == weftline::RunTermination::kCompleted);
  CHECK(values->values() == std::vector<std::uint64_t>{3, 7});
  const std::vector<std::string> once{"0/3: 60 up to 120", "3/2: 15 up to 30", "0/0: - up to -"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  CHECK(seen->values() == twice);
}

TEST_CASE("a leg that passes every 16th sample meets the full one in a queue that nobody sized") {
  weftline::Graph graph{"rates"};
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  const auto source = graph.op<RatedSource>("source", std::uint64_t{1'600},
                                            [](auto out) { out.nominal_rate(Rate::hz(60)); });
  const auto thin =
      graph.op<Thin>("thin", std::uint64_t{16}, std::make_shared<Collected<std::string>>());
  const auto pair = graph.op<Pair>("pair", values);
  graph.add_flow(source->out, thin->in);
  graph.add_flow(source->out, pair->all);
  graph.add_flow(thin->out, pair->some);
  const auto plan = compiled(graph);
  CHECK(plan.payload_edges()[0].queue_depth == 32);
  CHECK(plan.payload_edges()[0].depth_origin == weftline::QueueDepthOrigin::kAutomatic);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == weftline::RunTermination::kCompleted);
  CHECK(values->values().size() == 100);
}

}  // namespace
