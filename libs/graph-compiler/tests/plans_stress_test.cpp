// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <random>

#include "author_differently.hpp"
#include "plan_checks.hpp"
#include "plan_simulator.hpp"
#include "random_boundary.hpp"
#include "random_green_contexts.hpp"
#include "random_rates.hpp"

namespace weftline {
namespace {

/// Most are small; every twentieth has up to 300 operators. Every third has rates, bursts and
/// retention of any size, and need not be accepted.
TestGraph graph_of(std::uint32_t seed) {
  const std::uint32_t most = seed % 20 == 0 ? 300 : 40;
  if (seed % 3 == 0) return random_rate_graph(seed, most);
  TestGraph graph = with_random_boundary(random_graph(seed, most), seed);
  if (seed % 4 == 0) {
    graph.options.cuda_execution.compute_stream_policy =
        CudaComputeStreamPolicy::kSharedProcessDevice;
  }
  return seed % 5 == 0 ? with_random_green_contexts(std::move(graph), seed) : graph;
}

void check_simulated(const ExecutionPlan& plan, std::uint32_t seed) {
  PlanSimulator simulator(plan.records(), seed);
  simulator.run(100 * plan.operators().size());
  for (const TensorAllocationPlanRecord& pool : plan.tensor_allocations()) {
    const std::uint32_t peak = simulator.peaks()[pool.id.value];
    CAPTURE(plan.records().output_name(pool.output), peak, pool.active_slot_count);
    REQUIRE(peak <= pool.active_slot_count);
  }
}

TEST_CASE("10,000 plans: invariants, sizes, and no trace of the order of calls") {
  std::mt19937 random(20);
  std::size_t accepted = 0;
  std::size_t largest = 0;
  std::size_t divided = 0;
  for (std::uint32_t seed = 0; seed < 10'000; ++seed) {
    CAPTURE(seed);
    TestGraph graph = graph_of(seed);
    const ExecutionPlan plan = graph.compile();
    REQUIRE(graph.compile().digest() == plan.digest());
    author_differently(graph.snapshot(), random);
    REQUIRE(graph.compile().digest() == plan.digest());
    largest = std::max(largest, plan.operators().size());
    if (seed % 3 != 0) REQUIRE(plan.ok());
    if (!plan.ok()) continue;
    ++accepted;
    if (!plan.green_context_pools().empty()) ++divided;
    // Its sums assume what random_graph() makes; the rest is compared in exact_sizes_test.py.
    if (seed % 3 != 0) check_plan(plan.records());
    check_simulated(plan, seed);
  }
  CHECK(accepted > 6'500);
  CHECK(largest > 280);
  CHECK(divided > 500);
}

}  // namespace
}  // namespace weftline
