// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "test_graph.hpp"

namespace weftline {
namespace {

using Kind = TemporalRecordTriggerKind;
using Inputs = std::vector<std::uint32_t>;

TestGraph joined() {
  TestGraph graph;
  graph.source("a").source("b").op("join", {"left", "right"}, {});
  graph.flow("a.out", "join.left").flow("b.out", "join.right");
  return graph;
}

TEST_CASE("an empty contract waits for any input, and says that the compiler wrote it") {
  const ExecutionPlan plan = joined().compile();
  REQUIRE(plan.ok());
  const auto& trigger = find_op(plan, "join").trigger;
  CHECK(trigger.kind == Kind::kAnyInput);
  CHECK(trigger.origin == TemporalRecordOrigin::kCoreSynthesized);
  CHECK(trigger.inputs == Inputs{0, 1});
}

TEST_CASE("an authored trigger is kept as it is") {
  TestGraph graph = joined();
  graph.trigger("join", {.kind = Kind::kAligned, .inputs = {1, 0}, .window_ns = 0});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const auto& trigger = find_op(plan, "join").trigger;
  CHECK(trigger.kind == Kind::kAligned);
  CHECK(trigger.origin == TemporalRecordOrigin::kAuthored);
  CHECK(trigger.inputs == Inputs{1, 0});
  CHECK_FALSE(trigger.clock.valid());
}

TEST_CASE("a clock trigger runs on the default clock") {
  TestGraph graph = joined();
  graph.snapshot().clocks.push_back({"another", graph.snapshot().clocks.front().factory, true});
  graph.snapshot().default_clock = 1;
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const ClockId clock = find_op(plan, "a").trigger.clock;
  REQUIRE(clock.valid());
  CHECK(plan.records().clocks[clock.value].name == "another");
  CHECK(plan.records().clocks[clock.value].is_default);
  CHECK(plan.clock_factory(clock) != nullptr);
}

}  // namespace
}  // namespace weftline
