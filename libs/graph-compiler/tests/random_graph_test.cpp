// SPDX-License-Identifier: Apache-2.0
//
// Properties of plans of random graphs, checked by other means than the passes use.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "plan_checks.hpp"
#include "random_boundary.hpp"
#include "random_graph.hpp"
#include "random_green_contexts.hpp"
#include "test_graph.hpp"

namespace weftline {
namespace {

TEST_CASE("plans of 200 random graphs keep every invariant") {
  std::size_t fused = 0;
  std::size_t without_fences = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    TestGraph graph = with_random_boundary(random_graph(seed), seed);
    if (seed % 3 == 0) {
      graph.options.cuda_execution.compute_stream_policy =
          CudaComputeStreamPolicy::kSharedProcessDevice;
    }
    if (seed % 4 == 1) graph = with_random_green_contexts(std::move(graph), seed);
    const ExecutionPlan plan = graph.compile();
    INFO(format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    check_plan(plan.records());
    without_fences += static_cast<std::size_t>(
        std::ranges::count(plan.records().fusion_decisions, true, &FusionDecisionRecord::fused));
    fused += plan.operators().size() - plan.execution_partitions().size();
  }
  CHECK(fused > 100);
  CHECK(without_fences > 20);
}

}  // namespace
}  // namespace weftline
