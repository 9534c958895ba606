// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "test_graph.hpp"

namespace weftline {
namespace {

/// "name: member member; name: …"
std::string partitions_of(const ExecutionPlan& plan) {
  std::string text;
  for (const auto& partition : plan.execution_partitions()) {
    text.append(text.empty() ? "" : "; ").append(partition.name).append(":");
    for (const VertexId member : partition.members) {
      text.append(" ").append(plan.operators()[member.value].path);
    }
  }
  return text;
}

std::string reason_of(const ExecutionPlan& plan, std::string_view path) {
  return plan.records().partition_decisions[find_op(plan, path).id.value].reason;
}

PartitionDecisionKind decision_of(const ExecutionPlan& plan, std::string_view path) {
  return plan.records().partition_decisions[find_op(plan, path).id.value].kind;
}

TestGraph diamond() {
  TestGraph graph;
  graph.source("src").relay("pre").relay("left").relay("right").op("join", {"a", "b"}, {"out"});
  graph.sink("end");
  graph.flow("src.out", "pre.in").flow("pre.out", "left.in").flow("pre.out", "right.in");
  graph.flow("left.out", "join.a").flow("right.out", "join.b").flow("join.out", "end.in");
  return graph;
}

TEST_CASE("a linear chain is one lane, in the order of the flow") {
  TestGraph graph;
  graph.sink("a").relay("b").source("c").flow("b.out", "a.in").flow("c.out", "b.in");
  const ExecutionPlan plan = graph.compile();
  CHECK(partitions_of(plan) == "auto:c: c b a");
  CHECK(decision_of(plan, "c") == PartitionDecisionKind::kStart);
  CHECK(decision_of(plan, "a") == PartitionDecisionKind::kJoin);
  CHECK(reason_of(plan, "a") == "continues the chain of b");
  CHECK_FALSE(plan.payload_edges()[0].crosses_partitions);
}

TEST_CASE("each leg of a fork and each meeting of flows starts a lane") {
  const ExecutionPlan plan = diamond().compile();
  CHECK(partitions_of(plan) ==
        "auto:join: join end; auto:left: left; auto:right: right; auto:src: src pre");
  CHECK(decision_of(plan, "left") == PartitionDecisionKind::kFanOutLegSplit);
  CHECK(reason_of(plan, "left") == "one of 2 legs behind pre");
  CHECK(decision_of(plan, "join") == PartitionDecisionKind::kFanInSplit);
  CHECK(reason_of(plan, "join") == "2 flows meet here");
}

TEST_CASE("authored lanes come first, by name, and nothing else joins them") {
  TestGraph graph = diamond();
  graph.place("right", "zulu").place("src", "alpha").place("end", "alpha");
  const ExecutionPlan plan = graph.compile();
  CHECK(partitions_of(plan) ==
        "alpha: src end; zulu: right; auto:join: join; auto:left: left; auto:pre: pre");
  CHECK(decision_of(plan, "src") == PartitionDecisionKind::kAuthored);
  CHECK(decision_of(plan, "pre") == PartitionDecisionKind::kBoundarySplit);
  CHECK(reason_of(plan, "pre") == "behind src, which is in the authored partition alpha");
}

TEST_CASE("a partition without operators takes no id") {
  TestGraph graph = diamond();
  graph.snapshot().partitions = {"empty"};
  graph.place("src", "used");
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.execution_partitions().front().name == "used");
  CHECK(plan.execution_partitions().front().id == PartitionId{0});
}

TEST_CASE("an exported topic is no leg of a fork") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in").topic("weftline://a", {"a.out"});
  CHECK(partitions_of(graph.compile()) == "auto:a: a b");
}

TEST_CASE("edges know whether they lead to another lane") {
  const ExecutionPlan plan = diamond().compile();
  int crossing = 0;
  for (const auto& edge : plan.payload_edges()) crossing += edge.crosses_partitions ? 1 : 0;
  CHECK(crossing == 4);
}

TEST_CASE("operators of a loop are placed too, in a plan that is rejected") {
  for (const auto& order : {"abc", "acb", "bca"}) {
    TestGraph graph;
    for (const char* name = order; *name != '\0'; ++name) graph.relay(std::string(1, *name));
    const std::string path(order);
    for (std::size_t i = 0; i < 3; ++i) {
      graph.flow(path.substr(i, 1) + ".out", path.substr((i + 1) % 3, 1) + ".in");
    }
    const ExecutionPlan plan = graph.compile();
    CHECK_FALSE(plan.ok());
    std::size_t placed = 0;
    for (const auto& partition : plan.execution_partitions()) placed += partition.members.size();
    CHECK(placed == 3);
  }
}

}  // namespace
}  // namespace weftline
