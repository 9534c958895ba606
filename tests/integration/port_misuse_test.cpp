// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "test_operators.hpp"

using namespace test;
using weftline::InputState;
using weftline::LifecycleContext;
using weftline::RunTermination;

namespace {

using Tokens = std::vector<std::string>;

template <class Result>
std::string token_of(const Result& result) {
  return result ? "-" : std::string(result.error().token);
}

/// Drains one input as a batch, takes the other as one sample, and hands itself to a test.
class Misused final : public Operator<> {
 public:
  using Work = std::function<expected<void, Error>(Misused&, ExecutionContext&)>;
  Misused(Work work, std::shared_ptr<Tokens> starts)
      : work_(std::move(work)), starts_(std::move(starts)) {}
  Input<std::uint64_t> one;
  Input<std::uint64_t> many;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(one, "one");
    spec.input(many, "many");
    spec.output(out, "out");
  }
  Contract contract() const override {
    return Contract()
        .trigger(OnEach{one})
        .select(many, weftline::DrainAll{.max_samples = 4}, weftline::Absent{});
  }
  void start(LifecycleContext&) override {
    starts_->push_back(token_of(one.receive()));
    starts_->push_back(token_of(many.receive_batch()));
    starts_->push_back(token_of(out.emit(1)));
    starts_->push_back(token_of(out.close()));
    starts_->push_back(one.state() == InputState::kNotSelected ? "-" : "selected");
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    return work_(*this, context);
  }

 private:
  const Work work_;
  const std::shared_ptr<Tokens> starts_;
};

struct Outcome {
  Tokens starts{};
  RunTermination termination{};
};

Outcome run(const Misused::Work& work) {
  weftline::Graph graph{"misuse"};
  const auto starts = std::make_shared<Tokens>();
  const auto source = graph.op<CountingSource>("source", 1);
  const auto misused = graph.op<Misused>("misused", work, starts);
  graph.add_flow(source->out, misused->one);
  graph.add_flow(source->out, misused->many);
  graph.partition("lane").add(source).add(misused);  // both samples come together
  const auto session = weftline::run_async(compiled(graph));
  const RunTermination termination = run_to_end(session);
  return {*starts, termination};
}

}  // namespace

TEST_CASE("ports refuse to be used outside compute(), and say so") {
  const Outcome outcome = run([](Misused&, ExecutionContext& context) -> expected<void, Error> {
    context.request_success();
    return {};
  });
  CHECK(outcome.termination == RunTermination::kCompleted);
  CHECK(outcome.starts == Tokens{"PORT_OUTSIDE_COMPUTE", "PORT_OUTSIDE_COMPUTE",
                                 "PORT_OUTSIDE_COMPUTE", "PORT_OUTSIDE_COMPUTE", "-"});
}

TEST_CASE("ports refuse other threads while compute() runs, and serve their own") {
  Tokens elsewhere;
  Tokens here;
  const Outcome outcome = run([&](Misused& op, ExecutionContext& context) -> expected<void, Error> {
    std::thread([&] {
      elsewhere.push_back(token_of(op.one.receive()));
      elsewhere.push_back(token_of(op.many.receive_batch()));
      elsewhere.push_back(token_of(op.out.emit(1)));
      elsewhere.push_back(token_of(op.out.close()));
    }).join();
    here.push_back(token_of(op.one.receive()));
    here.push_back(token_of(op.out.close()));
    context.request_success();
    return {};
  });
  CHECK(outcome.termination == RunTermination::kCompleted);
  CHECK(elsewhere == Tokens(4, "PORT_OUTSIDE_COMPUTE"));
  CHECK(here == Tokens{"-", "-"});
}

TEST_CASE("an input answers the first of its refusals that applies") {
  Tokens tokens;
  const auto work = [&](Misused& op, ExecutionContext& context) -> expected<void, Error> {
    tokens.push_back(token_of(op.one.receive_batch()));
    tokens.push_back(token_of(op.one.receive()));
    tokens.push_back(token_of(op.one.receive()));
    tokens.push_back(token_of(op.many.receive()));
    tokens.push_back(token_of(op.many.receive_batch()));
    tokens.push_back(token_of(op.many.receive_batch()));  // a view, not a transfer
    context.request_success();
    return {};
  };
  run(work);
  CHECK(tokens == Tokens{"PORT_CARDINALITY", "-", "PORT_RECEIVED", "PORT_CARDINALITY", "-", "-"});
  const Input<std::uint64_t> unbound;
  CHECK(unbound.state() == InputState::kAbsent);
  CHECK(unbound.is_missing());
}
