// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "test_graph.hpp"

namespace weftline {
namespace {

TestGraph fork() {
  TestGraph graph;
  graph.source("a").sink("b").sink("c").flow("a.out", "b.in").flow("a.out", "c.in");
  return graph;
}

TEST_CASE("the mode says who decided on lanes") {
  TestGraph graph = fork();
  const auto mode = [&] { return graph.compile().records().partitioning.mode; };
  CHECK(mode() == PartitioningMode::kAutomatic);
  graph.place("a", "lane");
  CHECK(mode() == PartitioningMode::kHybrid);
  graph.place("b", "lane").place("c", "other").snapshot().exact_partitions = true;
  CHECK(mode() == PartitioningMode::kExact);
  const PartitioningPlanRecord record = graph.compile().records().partitioning;
  CHECK(record.authored_partition_count == 2);
  CHECK(record.algorithm == "source_chain");
  CHECK(record.algorithm_version == 1);
}

TEST_CASE("a partition that includes all is the only one, and no edge leaves it") {
  TestGraph graph = fork();
  graph.snapshot().partitions = {"main"};
  graph.snapshot().include_all = 0;
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.execution_partitions().size() == 1);
  CHECK(plan.execution_partitions()[0].name == "main");
  CHECK(plan.execution_partitions()[0].members.size() == 3);
  CHECK(plan.records().schedule_edges.empty());
  CHECK(plan.records().partitioning.mode == PartitioningMode::kIncludeAll);
  for (const auto& decision : plan.records().partition_decisions) {
    CHECK(decision.reason_code == PartitionDecisionReason::kWholeRoot);
  }
}

TEST_CASE(
    "the partition that includes all is found by its name, in whatever order they were made") {
  TestGraph graph = fork();
  graph.snapshot().partitions = {"zulu", "alpha"};
  graph.snapshot().include_all = 0;
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.execution_partitions()[0].name == "zulu");
}

TEST_CASE("operators may be named in the partition that includes all") {
  TestGraph graph = fork();
  graph.place("b", "main").snapshot().include_all = 0;
  CHECK(graph.diagnostics().empty());
}

TEST_CASE("every edge between lanes has a schedule edge with its two lanes") {
  const ExecutionPlan plan = fork().compile();
  const auto& scheduled = plan.records().schedule_edges;
  REQUIRE(scheduled.size() == 2);
  for (const ScheduleEdgeRecord& each : scheduled) {
    const PayloadEdgePlanRecord& edge = plan.payload_edges()[each.edge.value];
    CHECK(edge.crosses_partitions);
    CHECK(each.source == plan.operators()[edge.source.vertex.value].partition);
    CHECK(each.destination == plan.operators()[edge.target.vertex.value].partition);
  }
}

TEST_CASE("each decision has its reason in the public vocabulary") {
  TestGraph graph = fork();
  graph.relay("d").sink("e").flow("a.out", "d.in").flow("d.out", "e.in").place("c", "lane");
  const ExecutionPlan plan = graph.compile();
  const auto reason = [&](std::string_view path) {
    return plan.records().partition_decisions[find_op(plan, path).id.value].reason_code;
  };
  CHECK(reason("a") == PartitionDecisionReason::kIndependentReadinessRoot);
  CHECK(reason("b") == PartitionDecisionReason::kFanOutLeg);
  CHECK(reason("c") == PartitionDecisionReason::kAuthoredPartition);
  CHECK(reason("e") == PartitionDecisionReason::kLinearChain);
}

}  // namespace
}  // namespace weftline
