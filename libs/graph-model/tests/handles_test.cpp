// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/handles.hpp"

#include <catch2/catch_test_macros.hpp>
#include <optional>

#include "small_operators.hpp"
#include "thrown_token.hpp"
#include "weftline/plan/queue_sizing.hpp"

using namespace small;

TEST_CASE("what is said of a flow later counts as said with it") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto sink = graph.op<Sink>("sink");
  graph.add_flow(source->out, sink->in, {.queue_depth = 2})
      .queue_depth(5)
      .queue_policy(QueuePolicy::kDropOldest)
      .topic_name("numbers");
  const FlowSnapshot flow = graph.snapshot().flows[0];
  CHECK(flow.options.queue_depth == 5U);
  CHECK(flow.options.queue_policy == QueuePolicy::kDropOldest);
  CHECK(flow.topic_name == "numbers");
}

TEST_CASE("a flow refuses a depth of 0, a bad name, and a name of another output's flow") {
  Graph graph{"demo"};
  const auto a = graph.op<Source>("a");
  const auto b = graph.op<Source>("b");
  const auto one = graph.op<Relay>("one");
  const auto two = graph.op<Relay>("two");
  const auto three = graph.op<Relay>("three");
  FlowHandle first = graph.add_flow(a->out, one->in);
  FlowHandle second = graph.add_flow(a->out, two->in);
  FlowHandle third = graph.add_flow(b->out, three->in);
  CHECK(thrown_token([&] { first.queue_depth(0); }) == "GRAPH_QUEUE_DEPTH_ZERO");
  CHECK(thrown_token([&] { first.topic_name("a/b"); }) == "GRAPH_NAME_INVALID");
  first.topic_name("numbers");
  second.topic_name("numbers");
  CHECK(thrown_token([&] { third.topic_name("numbers"); }) == "GRAPH_TOPIC_NAME_CONFLICT");
  const GraphSnapshot snapshot = graph.snapshot();
  CHECK_FALSE(snapshot.flows[0].options.queue_depth);
  CHECK(snapshot.flows[1].topic_name == "numbers");
  CHECK(snapshot.flows[2].topic_name.empty());
}

TEST_CASE("handles of a graph that is gone are stale") {
  std::optional<FlowHandle> flow;
  std::optional<PartitionHandle> partition;
  std::optional<RegionHandle> region;
  std::optional<ClockHandle> clock;
  std::optional<OperatorHandle<Source>> source;
  std::optional<InputPortConfigurator<std::uint32_t>> configurator;
  {
    Graph graph{"gone"};
    source.emplace(graph.op<Source>("source"));
    const auto sink = graph.op<Sink>("sink");
    flow.emplace(graph.add_flow((*source)->out, sink->in));
    partition.emplace(graph.partition("lane"));
    region.emplace(graph.region("rt"));
    clock.emplace(graph.add_clock<RealtimeClock>("clk"));
    configurator.emplace(graph.configure(sink->in));
  }
  Graph graph{"demo"};
  const auto here = graph.op<Source>("here");
  const auto stale = [](auto call) { return thrown_token(call) == "GRAPH_HANDLE_STALE"; };
  CHECK(stale([&] { flow->queue_depth(3); }));
  CHECK(stale([&] { flow->queue_policy(QueuePolicy::kBlocking); }));
  CHECK(stale([&] { flow->topic_name("x"); }));
  CHECK(stale([&] { partition->add(here); }));
  CHECK(stale([&] { partition->include_all(); }));
  CHECK(stale([&] { region->add(here); }));
  CHECK(stale([&] { region->constrain(RegionConstraint::kHostOnly); }));
  CHECK(stale([&] { graph.set_default_clock(*clock); }));
  CHECK(stale([&] { static_cast<void>((*source)->out.index()); }));
  CHECK(stale([&] { graph.partition("p").add(*source); }));
  CHECK(stale([&] { graph.lifecycle_after(here, *source); }));
  CHECK(stale([&] { graph.allow_external_restart(*source); }));
  CHECK(stale([&] { configurator->queue_depth(3); }));
  const GraphSnapshot snapshot = graph.snapshot();
  CHECK_FALSE(snapshot.default_clock);
  CHECK_FALSE(snapshot.vertices[0].authored_partition);
  CHECK(snapshot.lifecycle_order.empty());
}

TEST_CASE("handles of another graph are foreign, and nothing changes") {
  Graph other{"other"};
  const auto stranger = other.op<Source>("stranger");
  const auto their_pair = other.embed<Pair>("pair");
  Graph graph{"demo"};
  const auto here = graph.op<Source>("here");
  const auto pair = graph.embed<Pair>("pair");
  const auto foreign = [](auto call) { return thrown_token(call) == "GRAPH_HANDLE_FOREIGN"; };
  CHECK(foreign([&] { graph.partition("p").add(stranger); }));
  CHECK(foreign([&] { graph.partition("p").add(their_pair); }));
  CHECK(foreign([&] { graph.partition("p").add(*pair->first); }));
  CHECK(foreign([&] { graph.region("r").add(stranger); }));
  CHECK(foreign([&] { graph.region("r").add(their_pair); }));
  CHECK(foreign([&] { graph.set_default_clock(other.add_clock<RealtimeClock>("clk")); }));
  CHECK(foreign([&] { graph.lifecycle_after(here, stranger); }));
  CHECK(foreign([&] { graph.grant_restart(stranger, here); }));
  CHECK(foreign([&] { graph.allow_external_restart(stranger); }));
  CHECK(thrown_token([&] { static_cast<void>(graph.configure(stranger->out)); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  const GraphSnapshot snapshot = graph.snapshot();
  CHECK(snapshot.lifecycle_order.empty());
  CHECK(snapshot.restart_grants.empty());
  CHECK(snapshot.regions[0].members.empty());
  CHECK(snapshot.regions[0].graphs.empty());
}

TEST_CASE("partitions of embedded graphs are named by path; a whole graph may share one lane") {
  Graph graph{"demo"};
  class Laned final : public Graph {
   public:
    using Graph::Graph;

   protected:
    void compose() override { partition("lane").add(op<Source>("source")); }
  };
  const auto laned = graph.embed<Laned>("laned");
  const auto pair = graph.embed<Pair>("pair");
  PartitionHandle mine = graph.partition("mine");
  mine.add(pair);
  mine.add(pair);
  CHECK(thrown_token([&] { mine.add(laned); }) == "GRAPH_PARTITION_CONFLICT");
  CHECK(thrown_token([&] { graph.partition("yours").add(pair); }) == "GRAPH_PARTITION_CONFLICT");
  const GraphSnapshot snapshot = graph.snapshot();
  for (const auto& vertex : snapshot.vertices) {
    REQUIRE(vertex.authored_partition);
    CHECK(snapshot.partitions[*vertex.authored_partition] ==
          (vertex.path == "laned/source" ? "laned/lane" : "mine"));
  }
}

TEST_CASE("two partitions can't both include all") {
  Graph graph{"demo"};
  graph.partition("a").include_all().include_all();
  CHECK(thrown_token([&] { graph.partition("b").include_all(); }) == "GRAPH_PARTITION_CONFLICT");
  CHECK(graph.snapshot().partitions[*graph.snapshot().include_all] == "a");
}

TEST_CASE("lifecycle orders and grants reach into embedded graphs") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto pair = graph.embed<Pair>("pair");
  graph.lifecycle_after(*pair->first, source);
  graph.grant_restart(source, *pair->first, {.from_stage = LifecycleStage::kArm});
  graph.allow_external_restart(source);
  const GraphSnapshot snapshot = graph.snapshot();
  const auto path = [&](VertexId vertex) { return snapshot.vertices[vertex.value].path; };
  REQUIRE(snapshot.lifecycle_order.size() == 1);
  CHECK(path(snapshot.lifecycle_order[0].before) == "source");
  CHECK(path(snapshot.lifecycle_order[0].after) == "pair/first");
  REQUIRE(snapshot.restart_grants.size() == 2);
  CHECK(path(snapshot.restart_grants[0].target) == "pair/first");
  CHECK(snapshot.restart_grants[0].from_stage == LifecycleStage::kArm);
  CHECK_FALSE(snapshot.restart_grants[1].requester);
  CHECK(thrown_token([&] { graph.lifecycle_after(source, source); }) == "LIFECYCLE_ORDER_SELF");
  for (const auto stage : {LifecycleStage::kStop, static_cast<LifecycleStage>(99)}) {
    CHECK(thrown_token([&] { graph.allow_external_restart(source, {.from_stage = stage}); }) ==
          "LIFECYCLE_STAGE_INVALID");
  }
}

TEST_CASE("a region has members, graphs and constraints") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto pair = graph.embed<Pair>("pair");
  graph.region("rt").add(source).add(pair).constrain(RegionConstraint::kHostOnly);
  graph.region("rt").constrain(RegionConstraint::kLossless);
  CHECK(thrown_token([&] { graph.region("rt").constrain(static_cast<RegionConstraint>(4)); }) ==
        "REGION_CONSTRAINT_INVALID");
  graph.region("rt").profile(Profile::kStrict).profile(Profile::kStrict);
  CHECK(thrown_token([&] { graph.region("rt").profile(static_cast<Profile>(3)); }) ==
        "REGION_PROFILE_INVALID");
  CHECK(thrown_token([&] { graph.region("rt").profile(Profile::kDevelopment); }) ==
        "REGION_PROFILE_CONFLICT");
  CHECK(thrown_token([&] { graph.region("r t"); }) == "GRAPH_NAME_INVALID");
  const GraphSnapshot snapshot = graph.snapshot();
  REQUIRE(snapshot.regions.size() == 1);
  CHECK(snapshot.regions[0].members.size() == 1);
  CHECK(snapshot.regions[0].graphs == std::vector<std::uint32_t>{0});
  CHECK(snapshot.regions[0].constraints.size() == 2);
  CHECK(snapshot.regions[0].profile == Profile::kStrict);
}
