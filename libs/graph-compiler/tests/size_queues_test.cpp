// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "test_graph.hpp"

namespace weftline {
namespace {

PayloadEdgePlanRecord edge_with(ConnectionOptions connection, std::uint32_t burst) {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in", connection);
  graph.output("a.out").max_emits_per_compute = burst;
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  return plan.payload_edges()[0];
}

TEST_CASE("a queue that nobody sized holds two activations' worth, and at least 4") {
  CHECK(edge_with({}, 1).queue_depth == 4);
  CHECK(edge_with({}, 2).queue_depth == 4);
  CHECK(edge_with({}, 3).queue_depth == 6);
  CHECK(edge_with({}, 3).depth_origin == QueueDepthOrigin::kDefault);
  CHECK(edge_with({}, 32'768).queue_depth == 65'536);
  CHECK(edge_with({}, 65'536).queue_depth == 65'536);
}

TEST_CASE("a given depth is exact") {
  const auto edge = edge_with({.queue_depth = 3}, 3);
  CHECK(edge.queue_depth == 3);
  CHECK(edge.depth_origin == QueueDepthOrigin::kExplicit);
  CHECK(edge_with({.queue_depth = 65'536}, 1).queue_depth == 65'536);
}

TEST_CASE("a drop-oldest queue makes its own room, so one cell is enough") {
  const auto edge = edge_with({.queue_depth = 1, .queue_policy = QueuePolicy::kDropOldest}, 5);
  CHECK(edge.queue_depth == 1);
  CHECK(edge.queue_policy == QueuePolicy::kDropOldest);
}

}  // namespace
}  // namespace weftline
