// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <set>
#include <string>

#include "test_graph.hpp"

namespace weftline {
namespace {

TestGraph idle(std::uint32_t count) {
  TestGraph graph;
  for (std::uint32_t i = 0; i < count; ++i) {
    // Names of one length, so that paths sort as the numbers.
    graph.op("op" + std::to_string(100'000 + i), {}, {});
  }
  graph.options.lifecycle_transactions.emplace();
  return graph;
}

void order(TestGraph& graph, std::uint32_t before, std::uint32_t after) {
  graph.snapshot().lifecycle_order.push_back({VertexId{before}, VertexId{after}});
}

TEST_CASE("without orders operators start by path") {
  TestGraph graph;
  graph.source("c").source("a").source("b");
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.records().lifecycle.start_order == std::vector{VertexId{0}, VertexId{1}, VertexId{2}});
  CHECK_FALSE(plan.records().lifecycle.transactions);
}

TEST_CASE("an order moves an operator no further than it has to") {
  TestGraph graph = idle(4);
  order(graph, 3, 0);
  CHECK(graph.compile().records().lifecycle.start_order ==
        std::vector{VertexId{1}, VertexId{2}, VertexId{3}, VertexId{0}});
}

TEST_CASE("an order given twice is one") {
  TestGraph graph = idle(2);
  order(graph, 1, 0);
  order(graph, 1, 0);
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.records().lifecycle.order.size() == 1);
}

/// Everything that starts after `target`, by walking the orders until nothing is added.
std::set<VertexId> reachable(const std::vector<LifecycleOrderRecord>& orders, VertexId target) {
  std::set<VertexId> found{target};
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& each : orders) {
      if (found.contains(each.before)) grown = found.insert(each.after).second || grown;
    }
  }
  return found;
}

TEST_CASE("random orders: all start after what they name, closures hold all that starts later") {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t count = 2 + static_cast<std::uint32_t>(random() % 30);
    TestGraph graph = idle(count);
    // A hidden order makes sure that there is no loop.
    std::vector<std::uint32_t> hidden(count);
    for (std::uint32_t i = 0; i < count; ++i) hidden[i] = i;
    std::ranges::shuffle(hidden, random);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto a = static_cast<std::uint32_t>(random() % count);
      const auto b = static_cast<std::uint32_t>(random() % count);
      if (a != b) order(graph, hidden[std::min(a, b)], hidden[std::max(a, b)]);
    }
    for (std::uint32_t i = 0; i < count; i += 2) {
      graph.snapshot().restart_grants.push_back({.target = VertexId{i}});
    }
    const ExecutionPlan plan = graph.compile();
    const LifecyclePlanRecord& lifecycle = plan.records().lifecycle;
    REQUIRE(plan.ok());
    std::vector<std::size_t> position(count);
    REQUIRE(lifecycle.start_order.size() == count);
    for (std::size_t at = 0; at < count; ++at) position[lifecycle.start_order[at].value] = at;
    for (const auto& each : lifecycle.order) {
      CHECK(position[each.before.value] < position[each.after.value]);
    }
    REQUIRE(lifecycle.restart_closures.size() == (count + 1) / 2);
    for (const RestartClosureRecord& closure : lifecycle.restart_closures) {
      CHECK(closure.members.front() == closure.target);
      CHECK(std::ranges::is_sorted(closure.members, {},
                                   [&](VertexId v) { return position[v.value]; }));
      CHECK(std::set(closure.members.begin(), closure.members.end()) ==
            reachable(lifecycle.order, closure.target));
      CHECK(closure.max_journal_entries == closure.members.size() * 8);
    }
  }
}

TEST_CASE("closures are admitted up to the bound, and refused one past it") {
  TestGraph graph = idle(6);
  for (std::uint32_t i = 1; i < 6; ++i) order(graph, i - 1, i);
  graph.snapshot().restart_grants.push_back({.target = VertexId{0}});
  graph.options.lifecycle_transactions->max_closure_operators = 6;
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.records().lifecycle.restart_grants[0].disposition ==
        LifecycleRestartDisposition::kAdmitted);
  graph.options.lifecycle_transactions->max_closure_operators = 5;
  const ExecutionPlan refused = graph.compile();
  CHECK_FALSE(refused.ok());
  CHECK(refused.records().lifecycle.restart_grants[0].disposition ==
        LifecycleRestartDisposition::kRejected);
  CHECK(refused.records().lifecycle.restart_closures.empty());
}

TEST_CASE("journals are admitted up to the bound") {
  TestGraph graph = idle(5);
  for (std::uint32_t i = 1; i < 5; ++i) order(graph, 0, i);
  graph.snapshot().restart_grants.push_back(
      {.target = VertexId{0}, .from_stage = LifecycleStage::kConfigure});
  graph.options.lifecycle_transactions->max_journal_entries = 40;
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.records().lifecycle.restart_grants[0].journal_entries == 40);
  graph.options.lifecycle_transactions->max_journal_entries = 39;
  CHECK_FALSE(graph.compile().ok());
}

TEST_CASE("members of all closures together are bounded") {
  // A chain of n, each of them granted, has n(n+1)/2 members: 1,447 fit, 1,448 do not.
  for (const std::uint32_t count : {1'447U, 1'448U}) {
    TestGraph graph = idle(count);
    for (std::uint32_t i = 1; i < count; ++i) order(graph, i - 1, i);
    for (std::uint32_t i = 0; i < count; ++i) {
      graph.snapshot().restart_grants.push_back({.target = VertexId{i}});
    }
    graph.options.lifecycle_transactions->max_closure_operators = kMaximumRestartClosure;
    const ExecutionPlan plan = graph.compile();
    std::size_t members = 0;
    for (const auto& closure : plan.records().lifecycle.restart_closures) {
      members += closure.members.size();
    }
    CHECK(members <= kMaximumRestartMembers);
    CHECK(plan.ok() == (std::uint64_t{count} * (count + 1) / 2 <= kMaximumRestartMembers));
    if (plan.ok()) continue;
    CHECK(plan.diagnostics()[0].message.find("more than 1048576 operators in all") !=
          std::string::npos);
  }
}

TEST_CASE("a member that waits on a source widens the stage to arm, and never narrows it") {
  for (const auto stage : {LifecycleStage::kConfigure, LifecycleStage::kAllocate,
                           LifecycleStage::kWarmUp, LifecycleStage::kArm, LifecycleStage::kStart}) {
    TestGraph graph = idle(2);
    order(graph, 0, 1);
    graph.vertex("op100001").trigger = {.kind = TemporalRecordTriggerKind::kReadable};
    graph.snapshot().restart_grants.push_back({.target = VertexId{0}, .from_stage = stage});
    const auto grant = graph.compile().records().lifecycle.restart_grants[0];
    CHECK(grant.requested_stage == stage);
    CHECK(grant.effective_stage == std::min(stage, LifecycleStage::kArm));
    CHECK((grant.widening == LifecycleStageWidening::kReadinessSource) ==
          (stage == LifecycleStage::kStart));
  }
}

TEST_CASE("grants without transactions are recorded as disabled, with no closure") {
  TestGraph graph = idle(2);
  graph.options.lifecycle_transactions.reset();
  graph.snapshot().restart_grants.push_back({.requester = VertexId{1}, .target = VertexId{0}});
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  const LifecyclePlanRecord& lifecycle = plan.records().lifecycle;
  CHECK(lifecycle.restart_grants[0].disposition == LifecycleRestartDisposition::kDisabled);
  CHECK(lifecycle.restart_grants[0].requester == VertexId{1});
  CHECK(lifecycle.restart_closures.empty());
}

TEST_CASE("every operator has its turn even in a loop of orders, in a plan that is rejected") {
  TestGraph graph = idle(3);
  order(graph, 0, 1);
  order(graph, 1, 0);
  order(graph, 1, 2);
  const ExecutionPlan plan = graph.compile();
  CHECK_FALSE(plan.ok());
  CHECK(plan.records().lifecycle.start_order.size() == 3);
}

}  // namespace
}  // namespace weftline
