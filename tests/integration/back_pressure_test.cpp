// SPDX-License-Identifier: Apache-2.0
//
// ADR 0001: what full queues and empty pools do to the operators before them.
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"

using namespace test;
using weftline::MemoryKind;
using weftline::RunTermination;

namespace {

constexpr DLDataType kByte{kDLUInt, 8, 1};
constexpr std::array<std::int64_t, 1> kShape{64};

weftline::TensorOutputSpec pooled() {
  return {.representation = {.memory_kind = MemoryKind::kHost, .dtype = kByte, .rank = 1},
          .bounds = weftline::tensor_bounds(64),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// Emits `burst` tensors for each sample, without a word of retry code.
class Bursts final : public Operator<> {
 public:
  explicit Bursts(std::uint32_t burst) : burst_(burst) {}
  Input<std::uint64_t> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out").produces_tensor(pooled()).max_emits_per_compute(burst_);
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    for (std::uint32_t n = 0; n < burst_; ++n) {
      WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kShape, .dtype = kByte}));
      WEFTLINE_TRY(loan.write_host_and_commit([](void*, std::uint64_t) {}));
      WEFTLINE_TRY(out.emit(std::move(loan), {.frame_id = sample.data * burst_ + n}));
    }
    return {};
  }

 private:
  const std::uint32_t burst_;
};

/// A source of tensors that counts its own calls and the loans that it was refused.
class Lender final : public Operator<> {
 public:
  struct Seen {
    std::atomic<std::uint64_t> refusals{0};
    std::atomic<std::uint64_t> calls_after_refusal{0};
  };
  Lender(std::uint64_t count, std::shared_ptr<Seen> seen) : count_(count), seen_(std::move(seen)) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").produces_tensor(pooled()); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    if (seen_->refusals > 0) ++seen_->calls_after_refusal;
    if (next_ == count_) return out.close();
    auto loan = out.allocate_tensor({.shape = kShape, .dtype = kByte});
    if (!loan) {
      if (loan.error().code != ErrorCode::kResourceExhausted)
        return weftline::forward_error(std::move(loan));
      ++seen_->refusals;
      return {};
    }
    WEFTLINE_TRY(loan->write_host_and_commit([](void*, std::uint64_t) {}));
    auto emitted = out.emit(std::move(*loan), {.frame_id = next_});
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    if (emitted) ++next_;
    return emitted;
  }

 private:
  const std::uint64_t count_;
  const std::shared_ptr<Seen> seen_;
  std::uint64_t next_{0};
};

/// Notes frame ids in order; keeps the first `hoard` tensors until its gate has opened. The plan
/// hears of `declared` of them.
class Hoarder final : public Operator<> {
 public:
  Hoarder(std::size_t hoard, std::shared_ptr<Collected<std::uint64_t>> ids,
          std::shared_ptr<Gate> gate, std::uint32_t declared = 0)
      : hoard_(hoard), ids_(std::move(ids)), gate_(std::move(gate)), declared_(declared) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in").retains(declared_); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(auto sample, in.receive());
    ids_->add(sample.metadata.frame_id.value_or(0));
    kept_.push_back(std::move(sample.data));
    if (kept_.size() < hoard_) return {};
    if (gate_ && !gate_->pass())
      return weftline::fail(ErrorCode::kTimeout, "TEST_WATCHDOG", "the gate stayed shut");
    kept_.clear();
    return {};
  }

 private:
  const std::size_t hoard_;
  const std::shared_ptr<Collected<std::uint64_t>> ids_;
  const std::shared_ptr<Gate> gate_;
  const std::uint32_t declared_;
  std::vector<Tensor> kept_{};
};

}  // namespace

TEST_CASE("an operator that emits a declared burst needs no retry code") {
  weftline::Graph graph{"bursts"};
  use_realtime_clock(graph);
  const auto ids = std::make_shared<Collected<std::uint64_t>>();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{500});
  const auto bursts = graph.op<Bursts>("bursts", 3U);
  const auto sink = graph.op<Hoarder>("sink", std::size_t{2}, ids, nullptr);
  graph.add_flow(source->out, bursts->in);
  graph.add_flow(bursts->out, sink->in, {.queue_depth = 4});
  graph.partition("a").add(source);
  graph.partition("b").add(bursts);
  graph.partition("c").add(sink);
  const auto plan = weftline::compile(graph);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(ids->values() == counting(1'500));
  for (const auto& counters : session.counters().operators) CHECK(counters.refused_loans == 0);
}

TEST_CASE("a burst that nobody takes has its slots all the same") {
  weftline::Graph graph{"unheard"};
  use_realtime_clock(graph);
  const auto source = graph.op<CountingSource>("source", std::uint64_t{20});
  const auto bursts = graph.op<Bursts>("bursts", 5U);
  graph.add_flow(source->out, bursts->in);
  const auto session = weftline::run_async(weftline::compile(graph));
  CHECK(run_to_end(session) == RunTermination::kCompleted);
}

TEST_CASE("a source that was refused a slot is called again when one is free, and not before") {
  weftline::Graph graph{"hoard"};
  use_realtime_clock(graph);
  const auto ids = std::make_shared<Collected<std::uint64_t>>();
  const auto gate = std::make_shared<Gate>();
  const auto seen = std::make_shared<Lender::Seen>();
  const auto source = graph.op<Lender>("source", std::uint64_t{50}, seen);
  // The plan gives the pool 1 + 4 + 1 slots; a consumer that keeps them all breaks its assumption.
  const auto sink = graph.op<Hoarder>("sink", std::size_t{6}, ids, gate);
  graph.add_flow(source->out, sink->in, {.queue_depth = 4});
  graph.partition("a").add(source);
  graph.partition("b").add(sink);
  const auto plan = weftline::compile(graph);
  REQUIRE(plan.ok());
  REQUIRE(plan.tensor_allocations()[0].slot_count == 6);
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  REQUIRE(eventually(session, [&] { return seen->refusals > 0; }));
  for_a_while([&] { REQUIRE(seen->calls_after_refusal == 0); });
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(ids->values() == counting(50));
  CHECK(counters_of(plan, session.counters(), "source").refused_loans == seen->refusals);
}

TEST_CASE("slots for samples that a consumer keeps are there, and widen no queue") {
  weftline::Graph graph{"keeps"};
  use_realtime_clock(graph);
  const auto ids = std::make_shared<Collected<std::uint64_t>>();
  const auto gate = std::make_shared<Gate>();
  const auto seen = std::make_shared<Lender::Seen>();
  const auto source = graph.op<Lender>("source", std::uint64_t{50}, seen);
  // It keeps ten, and stands at its gate with the eleventh in its hands.
  const auto sink = graph.op<Hoarder>("sink", std::size_t{11}, ids, gate, 10U);
  graph.add_flow(source->out, sink->in, {.queue_depth = 4});
  graph.partition("a").add(source);
  graph.partition("b").add(sink);
  const auto plan = weftline::compile(graph);
  REQUIRE(plan.ok());
  REQUIRE(plan.tensor_allocations()[0].slot_count == 1 + 4 + 1 + 10);
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  const auto pushed = [&] { return session.counters().edges[0].pushed; };
  REQUIRE(eventually(session, [&] { return pushed() == 11 + 4; }));
  for_a_while([&] { REQUIRE(pushed() == 11 + 4); });
  CHECK(session.counters().edges[0].depth_high_water == 4);
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(ids->values() == counting(50));
  CHECK(seen->refusals == 0);
}

TEST_CASE("a full arm holds back the whole publication, and nothing is lost when it opens") {
  weftline::Graph graph{"all-or-nothing"};
  const auto gate = std::make_shared<Gate>();
  const auto free_arm = std::make_shared<Collected<std::uint64_t>>();
  const auto shut_arm = std::make_shared<Collected<std::uint64_t>>();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{100});
  const auto a = graph.op<Collector>("free", free_arm);
  const auto b = graph.op<Collector>("shut", shut_arm, gate);
  graph.add_flow(source->out, a->in, {.queue_depth = 64});
  graph.add_flow(source->out, b->in, {.queue_depth = 3});
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  // The shut arm takes 3 (the one being looked at is still queued until it is received).
  REQUIRE(free_arm->wait_for_count(3));
  REQUIRE(eventually(
      session, [&] { return counters_of(plan, session.counters(), "source").refused_emits > 0; }));
  // And the source is not called again for nothing.
  for_a_while([&] { REQUIRE(counters_of(plan, session.counters(), "source").refused_emits == 1); });
  CHECK(free_arm->values() == counting(3));
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(free_arm->values() == counting(100));
  CHECK(shut_arm->values() == counting(100));
  for (const auto& edge : session.counters().edges) CHECK(edge.dropped == 0);
}

TEST_CASE("an operator driven by inputs is not activated while its output is full") {
  weftline::Graph graph{"gated"};
  const auto gate = std::make_shared<Gate>();
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{50});
  const auto add = graph.op<AddStep>("add", std::uint64_t{0});
  const auto sink = graph.op<Collector>("sink", values, gate);
  graph.add_flow(source->out, add->in, {.queue_depth = 2});
  graph.add_flow(add->out, sink->in, {.queue_depth = 1});
  graph.partition("a").add(source);
  graph.partition("b").add(add);
  graph.partition("c").add(sink);
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  const OpensAtEnd opens{gate};
  REQUIRE(gate->wait_for_visitor());
  // The source is refused once two samples wait for `add`, whose first activation may still be on
  // its way out of compute() then.
  REQUIRE(eventually(session, [&] {
    const auto counters = session.counters();
    return counters_of(plan, counters, "source").refused_emits > 0 &&
           counters_of(plan, counters, "add").activations > 0;
  }));
  const auto held = session.counters();
  CHECK(counters_of(plan, held, "add").activations == 1);
  CHECK(counters_of(plan, held, "add").refused_emits == 0);
  gate->open();
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(values->values() == counting(50));
  CHECK(counters_of(plan, session.counters(), "add").refused_emits == 0);
}
