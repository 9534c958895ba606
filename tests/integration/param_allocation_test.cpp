// SPDX-License-Identifier: Apache-2.0
// A program of its own: it replaces operator new.
#include <catch2/catch_test_macros.hpp>

#include "test_operators.hpp"
#include "weftline/testing/counted_new.hpp"

using namespace test;

namespace {

struct Step {
  std::uint64_t count{0};
  std::string name{"a name that does not fit into the string itself, so that copies allocate"};
};
WEFTLINE_PARAM_SCHEMA(Step, weftline::param_schema("test.Step", 1),
                      weftline::field<&Step::count>("count").range(0, 1u << 30U).runtime_mutable(),
                      weftline::field<&Step::name>("name"));

class Counts final : public Operator<Step> {
 public:
  explicit Counts(std::shared_ptr<std::atomic<std::uint64_t>> count) : count_(std::move(count)) {}
  void setup(OperatorSpec&) override {}
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    const std::uint64_t now = context.params<Step>().count;
    count_->store(now, std::memory_order_relaxed);
    auto submitted = context.submit(field_, now + 1);
    return submitted || weftline::is_retryable(submitted.error().code) ? expected<void, Error>{}
                                                                       : submitted;
  }

 private:
  const weftline::ParamRef<Step, std::uint64_t> field_{weftline::param_ref<&Step::count>()};
  const std::shared_ptr<std::atomic<std::uint64_t>> count_;
};

}  // namespace

TEST_CASE("taking new parameters, and updating one's own, allocates nothing") {
  weftline::Graph graph{"self-update"};
  const auto count = std::make_shared<std::atomic<std::uint64_t>>(0);
  graph.op<Counts>("counts", count);
  auto session = weftline::run_async(compiled(graph));
  const auto reached = [&](std::uint64_t target) {
    return eventually(session, [&] { return count->load(std::memory_order_relaxed) >= target; });
  };
  REQUIRE(reached(100));
  const std::uint64_t allocated = weftline::testing::allocations_of_all_threads();
  const bool arrived = reached(2'000);
  CHECK(weftline::testing::allocations_of_all_threads() == allocated);
  CHECK(arrived);
  session.request_stop();
  CHECK(run_to_end(session) == weftline::RunTermination::kStopped);
}
