// SPDX-License-Identifier: Apache-2.0
#include "plan_simulator.hpp"

#include <catch2/catch_test_macros.hpp>

#include "random_boundary.hpp"
#include "random_rates.hpp"

namespace weftline {
namespace {

TEST_CASE("whatever the order of activations, no pool has more slots out than the plan gives it") {
  std::size_t pools = 0;
  std::size_t tight = 0;
  std::uint64_t activations = 0;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const ExecutionPlan plan =
        (seed % 2 == 0 ? with_random_boundary(random_graph(seed), seed) : random_rate_graph(seed))
            .compile();
    if (!plan.ok()) continue;
    PlanSimulator simulator(plan.records(), seed);
    simulator.run(1000 * plan.operators().size());
    activations += simulator.activations();
    for (const TensorAllocationPlanRecord& pool : plan.tensor_allocations()) {
      const std::uint32_t peak = simulator.peaks()[pool.id.value];
      CAPTURE(seed, plan.records().output_name(pool.output), peak, pool.slot_count);
      CHECK(peak <= pool.active_slot_count);
      CHECK(peak <= pool.slot_count);
      ++pools;
      tight += peak == pool.active_slot_count ? 1 : 0;
    }
  }
  // The game reaches the bound often enough to notice one that is a slot too small.
  CHECK(activations > 100'000);
  CHECK(tight * 10 > pools);
}

TEST_CASE("an operator that reads one pool through two inputs retires two slots an activation") {
  TestGraph graph;
  graph.source("camera").tensor_output("camera.out", pool_in(MemoryKind::kCudaDevice));
  graph.bind("camera", "out", kEmulated0);
  graph.op("join", {"x", "y"}, {}).tensor_input("join.x").tensor_input("join.y");
  graph.flow("camera.out", "join.x").flow("camera.out", "join.y");
  graph.trigger("join", {.kind = TemporalRecordTriggerKind::kAligned, .inputs = {0, 1}});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const TensorAllocationPlanRecord& pool = plan.tensor_allocations()[0];
  std::uint32_t peak = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    PlanSimulator simulator(plan.records(), seed);
    simulator.run(20'000);
    peak = std::max(peak, simulator.peaks()[0]);
  }
  CHECK(peak <= pool.slot_count);
}

}  // namespace
}  // namespace weftline
