// SPDX-License-Identifier: Apache-2.0
//
// What operators and clocks of users can do wrong: each is a named error at its place.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <stdexcept>

#include "test_operators.hpp"

using Catch::Matchers::ContainsSubstring;
using namespace test;
using weftline::MemoryKind;
using weftline::RunTermination;

namespace {

constexpr DLDataType kByte{kDLUInt, 8, 1};
constexpr DLDataType kFloat{kDLFloat, 32, 1};
constexpr std::array<std::int64_t, 1> kRow{16};
constexpr std::array<std::int64_t, 2> kSquare{4, 4};

weftline::TensorOutputSpec bytes() {
  return {.representation = {.memory_kind = MemoryKind::kHost, .dtype = kByte, .rank = 1},
          .bounds = weftline::tensor_bounds(64),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// Does one thing with a tensor output of bytes of rank 1, and fails with what that answered.
class Tries final : public Operator<> {
 public:
  using Attempt = std::function<expected<void, Error>(Output<Tensor>&)>;
  explicit Tries(Attempt attempt) : attempt_(std::move(attempt)) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").produces_tensor(bytes()); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_TRY(attempt_(out));
    return out.close();
  }

 private:
  const Attempt attempt_;
};

class Drops final : public Operator<> {
 public:
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

/// The one diagnostic of a run that fails.
weftline::RunDiagnostic failure_of(const weftline::ExecutionPlan& plan) {
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kFailed);
  REQUIRE(session.diagnostics().size() == 1);
  return session.diagnostics()[0];
}

weftline::RunDiagnostic failure_of(Tries::Attempt attempt) {
  weftline::Graph graph{"misuse"};
  use_realtime_clock(graph);
  const auto source = graph.op<Tries>("source", std::move(attempt));
  const auto sink = graph.op<Drops>("sink");
  graph.add_flow(source->out, sink->in);
  return failure_of(weftline::compile(graph));
}

}  // namespace

TEST_CASE("an empty tensor is refused where it is emitted") {
  const auto failure = failure_of([](Output<Tensor>& out) { return out.emit(Tensor{}); });
  CHECK(failure.place == "source");
  CHECK(failure.error.code == ErrorCode::kInvalidArgument);
  CHECK(failure.error.token == "TENSOR_EMPTY");
}

TEST_CASE("a loan against the output's own declaration is refused with both sides' values") {
  const auto dtype = failure_of([](Output<Tensor>& out) -> expected<void, Error> {
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kRow, .dtype = kFloat}));
    return out.emit(std::move(loan));
  });
  CHECK(dtype.error.token == "PORT_TENSOR_CONTRACT_BROKEN");
  CHECK_THAT(dtype.error.message, ContainsSubstring("dtype float32, declared uint8"));
  const auto rank = failure_of([](Output<Tensor>& out) -> expected<void, Error> {
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kSquare, .dtype = kByte}));
    return out.emit(std::move(loan));
  });
  CHECK_THAT(rank.error.message,
             ContainsSubstring("output out") && ContainsSubstring("rank 2, declared 1"));
}

TEST_CASE("a loan that was not committed is refused and given back") {
  const auto failure = failure_of([](Output<Tensor>& out) -> expected<void, Error> {
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kRow, .dtype = kByte}));
    auto refused = out.emit(std::move(loan));
    // Rule 8: a final refusal consumes the loan.
    if (loan.valid()) return weftline::fail(ErrorCode::kFailure, "TEST_LOAN_KEPT");
    return refused;
  });
  CHECK(failure.error.token == "TENSOR_NOT_COMMITTED");
}

namespace {

/// Emits on each of its outputs a loan of the other.
class Swaps final : public Operator<> {
 public:
  Output<Tensor> a;
  Output<Tensor> b;
  void setup(OperatorSpec& spec) override {
    spec.output(a, "a").produces_tensor(bytes());
    spec.output(b, "b").produces_tensor(bytes());
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(auto loan, a.allocate_tensor({.shape = kRow, .dtype = kByte}));
    WEFTLINE_TRY(loan.write_host_and_commit([](void*, std::uint64_t) {}));
    auto refused = b.emit(std::move(loan));
    if (loan.valid()) return weftline::fail(ErrorCode::kFailure, "TEST_LOAN_KEPT");
    return refused;
  }
};

}  // namespace

TEST_CASE("a loan of another output is refused and given back") {
  weftline::Graph graph{"swapped"};
  graph.op<Swaps>("swaps");
  const auto failure = failure_of(compiled(graph));
  CHECK(failure.place == "swaps");
  CHECK(failure.error.token == "TENSOR_LOAN_OF_ANOTHER_POOL");
  CHECK_THAT(failure.error.message, ContainsSubstring("output b"));
}

TEST_CASE("emit after close, and a second close, are kClosed") {
  const auto again = failure_of([](Output<Tensor>& out) -> expected<void, Error> {
    WEFTLINE_TRY(out.close());
    return out.close();
  });
  CHECK(again.error.code == ErrorCode::kClosed);
  const auto late = failure_of([](Output<Tensor>& out) -> expected<void, Error> {
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kRow, .dtype = kByte}));
    WEFTLINE_TRY(loan.write_host_and_commit([](void*, std::uint64_t) {}));
    WEFTLINE_TRY(out.close());
    return out.emit(std::move(loan));
  });
  CHECK(late.error.code == ErrorCode::kClosed);
}

namespace {

/// A source whose setup() declares another port name in each process run of it.
class Fickle final : public Operator<> {
 public:
  explicit Fickle(std::shared_ptr<std::atomic<bool>> changed) : changed_(std::move(changed)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, *changed_ ? "after" : "before"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return out.close(); }

 private:
  const std::shared_ptr<std::atomic<bool>> changed_;
};

/// Stands still at zero, then counts looks: an own origin, far from the machine's clock.
class OwnClock final : public weftline::Clock {
 public:
  std::int64_t now_ns() const noexcept override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() -
                                                                origin_)
        .count();
  }
  bool independent_progress() const noexcept override { return true; }

 private:
  const std::chrono::steady_clock::time_point origin_{std::chrono::steady_clock::now()};
};

class BrokenClock final : public weftline::Clock {
 public:
  BrokenClock() {
    if (broken) throw std::runtime_error("the quartz is cracked");
  }
  std::int64_t now_ns() const noexcept override { return 0; }
  bool independent_progress() const noexcept override { return true; }
  static inline bool broken{false};
};

}  // namespace

TEST_CASE("a setup() that declares other ports than the plan has is refused with both") {
  weftline::Graph graph{"fickle"};
  use_realtime_clock(graph);
  const auto changed = std::make_shared<std::atomic<bool>>(false);
  graph.op<Fickle>("fickle", changed);
  const auto plan = weftline::compile(graph);
  *changed = true;
  const auto failure = failure_of(plan);
  CHECK(failure.place == "fickle");
  CHECK(failure.error.token == "RUN_SETUP_CHANGED");
  CHECK_THAT(failure.error.message, ContainsSubstring("before") && ContainsSubstring("after"));
}

TEST_CASE("clock triggers keep to the graph's clock, wherever it counts from") {
  weftline::Graph graph{"own-clock"};
  graph.set_default_clock(graph.add_clock<OwnClock>("own"));
  const auto values = std::make_shared<Collected<std::uint64_t>>();
  const auto source = graph.op<CountingSource>("source", std::uint64_t{100});
  const auto sink = graph.op<Collector>("sink", values);
  graph.add_flow(source->out, sink->in);
  REQUIRE(run_to_end(weftline::run_async(weftline::compile(graph))) == RunTermination::kCompleted);
  CHECK(values->values() == counting(100));
}

TEST_CASE("a clock that can't be made gives a failed session, not an exception") {
  weftline::Graph graph{"broken-clock"};
  graph.set_default_clock(graph.add_clock<BrokenClock>("quartz"));
  graph.op<CountingSource>("source", std::uint64_t{1});
  const auto plan = weftline::compile(graph);
  BrokenClock::broken = true;
  const auto failure = failure_of(plan);
  BrokenClock::broken = false;
  CHECK(failure.place == "clock quartz");
  CHECK(failure.error.token == "RUN_BUILD_THREW");
  CHECK(failure.error.message == "the quartz is cracked");
}

namespace {

class Pairing final : public Operator<> {
 public:
  Input<std::uint64_t> a;
  Input<std::uint64_t> b;
  void setup(OperatorSpec& spec) override {
    spec.input(a, "a");
    spec.input(b, "b");
  }
  Contract contract() const override {
    return Contract().trigger(weftline::OnAligned{.inputs = {a, b}});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

class Untimed final : public Operator<> {
 public:
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_TRY(out.emit(1));
    return out.close();
  }
};

}  // namespace

TEST_CASE("a sample that OnAligned can't place names its input") {
  weftline::Graph graph{"untimed"};
  use_realtime_clock(graph);
  const auto timed = graph.op<CountingSource>("timed", std::uint64_t{1});
  const auto untimed = graph.op<Untimed>("untimed");
  const auto join = graph.op<Pairing>("join");
  graph.add_flow(timed->out, join->a);
  graph.add_flow(untimed->out, join->b);
  const auto failure = failure_of(weftline::compile(graph));
  CHECK(failure.place == "join");
  CHECK_THAT(failure.error.message,
             ContainsSubstring("input b") && ContainsSubstring("capture_time"));
}
