// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"
#include "weftline/testing/allocation_count.hpp"

using namespace test;
using weftline::LifecycleReceipt;

namespace {

struct Count {
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> allocated{0};
};

/// Asks for its restart every now and then, twice, and keeps the receipt.
class Asks final : public Operator<> {
 public:
  explicit Asks(std::shared_ptr<Count> count) : count_(std::move(count)) {}
  void setup(OperatorSpec&) override {}
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (++calls_ % 3 != 0) return {};
    const std::uint64_t before = weftline::testing::allocations_of_this_thread();
    auto receipt =
        context.request_restart({.reason = "long enough not to fit into a string itself"});
    const auto refused = context.request_restart();
    if (receipt) receipt_.emplace(std::move(*receipt));
    count_->allocated += weftline::testing::allocations_of_this_thread() - before;
    count_->asked += receipt_ && !refused ? 1 : 0;
    return {};
  }

 private:
  const std::shared_ptr<Count> count_;
  std::optional<LifecycleReceipt> receipt_{};
  std::uint64_t calls_{0};
};

}  // namespace

TEST_CASE("asking for a restart allocates nothing, also where it is refused") {
  weftline::Graph graph{"asks"};
  use_realtime_clock(graph);
  const auto count = std::make_shared<Count>();
  const auto op = graph.op<Asks>("asks", count);
  graph.grant_restart(op, op);
  weftline::CompileOptions options;
  options.lifecycle_transactions.emplace();
  const auto plan = weftline::compile(graph, options);
  REQUIRE(plan.ok());
  auto session = weftline::run_async(plan);
  REQUIRE(eventually(session, [&] { return count->asked >= 100; }));
  session.request_stop();
  CHECK(run_to_end(session) == weftline::RunTermination::kStopped);
  CHECK(session.counters().restarts.committed >= 99);
  CHECK(count->allocated == 0);
}
