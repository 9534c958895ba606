// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <random>

#include "test_operators.hpp"

using namespace test;

namespace {

/// Emits samples with the given capture times (and those as values), then closes.
class TimedSource final : public Operator<> {
 public:
  explicit TimedSource(std::vector<std::int64_t> times) : times_(std::move(times)) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (next_ == times_.size()) return out.close();
    auto emitted = out.emit(static_cast<std::uint64_t>(times_[next_]),
                            {.capture_time = context.clock().at_ns(times_[next_])});
    if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
    if (emitted) ++next_;
    return emitted;
  }

 private:
  const std::vector<std::int64_t> times_;
  std::size_t next_{0};
};

using Pair = std::pair<std::uint64_t, std::uint64_t>;

class Join final : public Operator<> {
 public:
  Join(std::chrono::nanoseconds window, std::shared_ptr<Collected<Pair>> pairs)
      : window_(window), pairs_(std::move(pairs)) {}
  Input<std::uint64_t> a;
  Input<std::uint64_t> b;
  void setup(OperatorSpec& spec) override {
    spec.input(a, "a");
    spec.input(b, "b");
  }
  Contract contract() const override {
    return Contract().trigger(weftline::OnAligned{.inputs = {a, b}, .window = window_});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto left, a.receive());
    WEFTLINE_ASSIGN(const auto right, b.receive());
    pairs_->add({left.data, right.data});
    return {};
  }

 private:
  const std::chrono::nanoseconds window_;
  const std::shared_ptr<Collected<Pair>> pairs_;
};

/// The rule of OnAligned on whole traces.
struct Reference {
  std::vector<Pair> pairs{};
  std::uint64_t unaligned{0};  ///< Heads that can't be part of a pair.
  std::uint64_t left{0};       ///< Of the longer trace, when the other has ended.
};
Reference reference(std::vector<std::int64_t> a, std::vector<std::int64_t> b, std::int64_t window) {
  Reference result;
  while (!a.empty() && !b.empty()) {
    const std::int64_t spread = std::max(a[0], b[0]) - std::min(a[0], b[0]);
    if (spread <= window) {
      result.pairs.emplace_back(a[0], b[0]);
      a.erase(a.begin());
      b.erase(b.begin());
    } else {
      auto& older = a[0] < b[0] ? a : b;
      older.erase(older.begin());
      ++result.unaligned;
    }
  }
  result.left = a.size() + b.size();
  return result;
}

}  // namespace

TEST_CASE("OnAligned pairs heads like its reference model, however the lanes are scheduled") {
  const unsigned seed = GENERATE(range(1U, 21U));
  std::mt19937 random(seed);
  const auto trace = [&] {
    std::vector<std::int64_t> times;
    std::int64_t time = 0;
    const int length = static_cast<int>(random() % 60);
    for (int sample = 0; sample < length; ++sample) {
      time += static_cast<std::int64_t>(random() % 10);
      times.push_back(time);
    }
    return times;
  };
  const auto left = trace();
  const auto right = trace();
  const auto window = static_cast<std::int64_t>(random() % 6);

  weftline::Graph graph{"aligned"};
  const auto pairs = std::make_shared<Collected<Pair>>();
  const auto a = graph.op<TimedSource>("a", left);
  const auto b = graph.op<TimedSource>("b", right);
  const auto join = graph.op<Join>("join", std::chrono::nanoseconds(window), pairs);
  graph.add_flow(a->out, join->a, {.queue_depth = 1 + seed % 3});
  graph.add_flow(b->out, join->b, {.queue_depth = 1 + seed % 2});
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == weftline::RunTermination::kCompleted);
  const Reference wanted = reference(left, right, window);
  CHECK(pairs->values() == wanted.pairs);
  const auto counters = counters_of(plan, session.counters(), "join");
  CHECK(counters.unaligned_drops == wanted.unaligned);
  CHECK(counters.discarded == wanted.left);
}
