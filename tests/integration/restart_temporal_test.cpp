// SPDX-License-Identifier: Apache-2.0
//
// What triggers and selectors remember of the time before a restart: nothing. And what is queued
// stays.
#include <catch2/catch_test_macros.hpp>
#include <deque>

#include "test_operators.hpp"
#include "weftline/core/synthetic_clock.hpp"

using namespace test;
using weftline::Absent;
using weftline::BracketedWindow;
using weftline::ClockDriver;
using weftline::LatestWithin;
using weftline::LifecycleStage;
using weftline::OnWindow;
using weftline::RunTermination;
using weftline::SyntheticClock;
using State = weftline::LifecycleTransactionState;
using namespace std::chrono_literals;

namespace {

/// What a feeder has yet to emit: capture times, which are the values, too.
class Orders {
 public:
  void add(std::uint64_t captured) {
    const std::lock_guard lock(mutex_);
    orders_.push_back(captured);
  }
  std::deque<std::uint64_t> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(orders_, {});
  }

 private:
  std::mutex mutex_{};
  std::deque<std::uint64_t> orders_{};
};

class Feeder final : public Operator<> {
 public:
  explicit Feeder(std::shared_ptr<Orders> orders) : orders_(std::move(orders)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").max_emits_per_compute(8); }
  Contract contract() const override { return Contract().trigger(OnClock{1ns}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    for (const std::uint64_t captured : orders_->take()) {
      const auto time = context.clock().at_ns(static_cast<std::int64_t>(captured));
      WEFTLINE_TRY(out.emit(captured, {.capture_time = time}));
    }
    return {};
  }

 private:
  const std::shared_ptr<Orders> orders_;
};

/// Writes down what each activation gets: "20; 10; -".
class Writer final : public Operator<> {
 public:
  using MakeContract = std::function<Contract(const Writer&)>;
  Writer(std::size_t inputs, MakeContract contract, std::shared_ptr<Collected<std::string>> lines)
      : inputs_(inputs), contract_(std::move(contract)), lines_(std::move(lines)) {}
  std::array<Input<std::uint64_t>, 3> in{};
  void setup(OperatorSpec& spec) override {
    for (std::size_t port = 0; port < inputs_; ++port) {
      spec.input(in.at(port), "in" + std::to_string(port));
    }
  }
  Contract contract() const override { return contract_(*this); }
  expected<void, Error> compute(ExecutionContext& context) override {
    std::string line;
    for (std::size_t port = 0; port < inputs_; ++port) {
      if (port > 0) line += "; ";
      if (const auto batch = in.at(port).receive_batch()) {
        for (const auto& sample : *batch) line += std::to_string(sample.data) + ".";
      } else if (const auto sample = in.at(port).receive()) {
        line += std::to_string(sample->data);
      } else {
        line += "-";
      }
    }
    lines_->add(inputs_ > 0 ? line : std::to_string(context.activation_time().timestamp_ns));
    return {};
  }

 private:
  const std::size_t inputs_;
  const MakeContract contract_;
  const std::shared_ptr<Collected<std::string>> lines_;
};

/// A writer with a feeder for each of its inputs, and an operator that says how far the lane has
/// come, in one lane on a clock that the test drives.
class Bench {
 public:
  Bench(std::size_t inputs, Writer::MakeContract contract) {
    weftline::Graph graph{"bench"};
    graph.set_default_clock(graph.add_clock<SyntheticClock>("sim", driver_));
    const auto writer = graph.op<Writer>("writer", inputs, std::move(contract), lines_);
    graph.allow_external_restart(writer, {.from_stage = LifecycleStage::kConfigure});
    auto lane = graph.partition("lane");
    lane.add(writer);
    for (std::size_t port = 0; port < inputs; ++port) {
      orders_.push_back(std::make_shared<Orders>());
      const auto feeder = graph.op<Feeder>("feeder" + std::to_string(port), orders_.back());
      graph.allow_external_restart(feeder);
      graph.add_flow(feeder->out, writer->in.at(port), {.queue_depth = 64});
      lane.add(feeder);
    }
    // The last of the lane, by its name.
    lane.add(graph.op<Writer>(
        "z-tail", std::size_t{0}, [](const Writer&) { return Contract().trigger(OnClock{1ns}); },
        ticks_));
    weftline::CompileOptions options;
    options.lifecycle_transactions.emplace();
    plan_.emplace(weftline::compile(graph, options));
    INFO(weftline::format_diagnostics(plan_->diagnostics()));
    REQUIRE(plan_->ok());
    session_.emplace(weftline::run_async(*plan_));
    REQUIRE(ticks_->wait_for_count(1));
  }
  ~Bench() {
    session_->request_stop();
    CHECK(run_to_end(*session_) == RunTermination::kStopped);
    CHECK(session_->diagnostics().empty());
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// Lets the lane emit it, and work off all that this makes due.
  void feed(std::size_t port, std::initializer_list<std::uint64_t> captured) {
    for (const std::uint64_t time : captured) orders_.at(port)->add(time);
    // One activation of each for each tick.
    for (int tick = 0; tick < 6; ++tick) advance(1ns);
  }
  void advance(std::chrono::nanoseconds step) {
    const std::size_t before = ticks_->values().size();
    REQUIRE(driver_->advance(step).has_value());
    REQUIRE(ticks_->wait_for_count(before + 1));
  }
  void restart(std::string_view path = "writer") {
    const auto receipt = session_->lifecycle_control().request_restart(path);
    REQUIRE(receipt.wait_until(std::chrono::steady_clock::now() + kWatchdog));
    REQUIRE(receipt.view().state == State::kCommitted);
  }
  [[nodiscard]] std::vector<std::string> lines() const { return lines_->values(); }
  [[nodiscard]] weftline::OperatorCounters counters() const {
    return counters_of(*plan_, session_->counters(), "writer");
  }

 private:
  const std::shared_ptr<ClockDriver> driver_{std::make_shared<ClockDriver>()};
  const std::shared_ptr<Collected<std::string>> lines_{std::make_shared<Collected<std::string>>()};
  const std::shared_ptr<Collected<std::string>> ticks_{std::make_shared<Collected<std::string>>()};
  std::vector<std::shared_ptr<Orders>> orders_{};
  std::optional<weftline::ExecutionPlan> plan_{};
  std::optional<weftline::RunSession> session_{};
};

using Lines = std::vector<std::string>;

Contract latest(const Writer& writer) {
  return Contract().trigger(OnEach{writer.in[0]}).select(writer.in[1], LatestWithin{1us}, Absent{});
}

Contract windows(const Writer& writer) {
  Contract contract;
  contract.trigger(OnWindow{.anchor = writer.in[0], .max_wait = 1s, .max_pending_windows = 4})
      .select(writer.in[1], BracketedWindow{5ns, 5ns, 8}, Absent{});
  if (writer.in[2].declared())
    contract.select(writer.in[2], BracketedWindow{5ns, 5ns, 8}, Absent{});
  return contract;
}

}  // namespace

TEST_CASE("ticks count from the restart") {
  Bench bench(0, [](const Writer&) { return Contract().trigger(OnClock{10ns}); });
  bench.advance(25ns);
  CHECK(bench.lines() == Lines{"0", "20"});
  bench.restart();
  bench.advance(9ns);
  CHECK(bench.lines() == Lines{"0", "20", "25"});  // the first tick is the restart itself
  bench.advance(1ns);
  bench.advance(10ns);
  CHECK(bench.lines() == Lines{"0", "20", "25", "35", "45"});
  CHECK(bench.counters().coalesced_ticks == 1);
}

TEST_CASE("a phase counts from the restart") {
  Bench bench(0, [](const Writer&) { return Contract().trigger(OnClock{10ns, 5ns}); });
  bench.advance(3ns);
  bench.restart();
  bench.advance(4ns);
  CHECK(bench.lines().empty());
  bench.advance(1ns);
  CHECK(bench.lines() == Lines{"8"});
}

TEST_CASE("what a selector keeps for later is forgotten, and what is queued is found") {
  Bench bench(2, latest);
  bench.feed(1, {10});
  bench.feed(0, {20});
  CHECK(bench.lines() == Lines{"20; 10"});
  bench.restart();
  bench.feed(0, {30});
  CHECK(bench.lines() == Lines{"20; 10", "30; -"});
  bench.feed(1, {31});
  bench.restart();  // 31 was accepted, and no activation has looked for it
  bench.feed(0, {40});
  CHECK(bench.lines() == Lines{"20; 10", "30; -", "40; 31"});
}

TEST_CASE("a consumer forgets what it keeps of an operator that begins anew") {
  Bench bench(2, latest);
  bench.feed(1, {10});
  bench.feed(0, {20});
  bench.restart("feeder1");
  bench.feed(0, {30});
  CHECK(bench.lines() == Lines{"20; 10", "30; -"});
}

TEST_CASE("a window that waits is forgotten with its anchor, and the next anchor primes again") {
  Bench bench(2, windows);
  bench.feed(1, {0});
  bench.feed(0, {10, 20});
  CHECK(bench.lines().empty());
  bench.restart();
  bench.feed(1, {30});  // would complete the window of 20
  CHECK(bench.lines().empty());
  bench.feed(0, {40});
  bench.feed(1, {44, 50, 56});
  CHECK(bench.lines().empty());
  CHECK(bench.counters().passed_over >= 2);
  bench.feed(0, {50});
  CHECK(bench.lines() == Lines{"50; 50."});
}

TEST_CASE("a window is not complete because an earlier one was, before the restart") {
  Bench bench(3, windows);
  bench.feed(0, {10, 20});
  bench.feed(1, {0, 25});  // reaches the far end; the other input does not
  bench.feed(2, {0});
  CHECK(bench.lines().empty());
  bench.restart();
  bench.feed(2, {44, 50, 56});
  bench.feed(1, {44, 50});
  bench.feed(0, {40, 50});
  CHECK(bench.lines().empty());
  bench.feed(1, {56});
  CHECK(bench.lines() == Lines{"50; 50.; 50."});
}

TEST_CASE("no window begins in one epoch of its anchors and ends in the next") {
  Bench bench(2, windows);
  bench.feed(1, {0, 26});
  bench.feed(0, {10, 20});
  CHECK(bench.lines() == Lines{"20; -"});  // nothing lies within, and that is known
  bench.restart("feeder0");
  bench.feed(1, {34, 40, 46, 54, 60, 66});
  bench.feed(0, {40});
  CHECK(bench.lines().size() == 1);
  bench.feed(0, {60});
  CHECK(bench.lines() == Lines{"20; -", "60; 60."});
}
