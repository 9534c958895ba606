// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/port_configurator.hpp"

#include <catch2/catch_test_macros.hpp>

#include "small_operators.hpp"
#include "thrown_token.hpp"
#include "weftline/plan/queue_sizing.hpp"

using namespace small;

TEST_CASE("what the graph says of a port stays beside what setup() says") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto sink = graph.op<Sink>("sink");
  graph.configure(source->out)
      .max_emits_per_compute(4)
      .late_joiner_history_depth(9)
      .diagnostic_alias("numbers");
  graph.configure(sink->frames).queue_depth(6).expects_tensor({.representation = {.rank = 2}});
  const GraphSnapshot snapshot = graph.snapshot();
  CHECK(snapshot.vertices[0].outputs[0].max_emits_per_compute == 1);
  CHECK_FALSE(snapshot.vertices[1].inputs[1].tensor);
  REQUIRE(snapshot.port_overrides.size() == 2);
  const PortOverrideSnapshot& out = snapshot.port_overrides[0];
  CHECK(out.is_output);
  CHECK(out.port == PortRef{VertexId{0}, 0});
  CHECK(out.max_emits_per_compute == 4U);
  CHECK(out.late_joiner_history_depth == 9U);
  CHECK(out.diagnostic_alias == "numbers");
  const PortOverrideSnapshot& in = snapshot.port_overrides[1];
  CHECK_FALSE(in.is_output);
  CHECK(in.port == PortRef{VertexId{1}, 1});
  CHECK(in.queue_depth == 6U);
  REQUIRE(in.expects_tensor);
  CHECK(in.expects_tensor->representation.rank == 2U);
}

TEST_CASE("a fact may be said again, but not differently") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto sink = graph.op<Sink>("sink");
  graph.configure(sink->in).queue_depth(6).queue_depth(6).diagnostic_alias("a");
  graph.configure(source->frames).produces_tensor({.bounds = tensor_bounds(5)});
  graph.configure(source->frames).produces_tensor({.bounds = tensor_bounds(5)});
  const auto conflict = [](auto call) { return thrown_token(call) == "PORT_OVERRIDE_CONFLICT"; };
  CHECK(conflict([&] { graph.configure(sink->in).queue_depth(7); }));
  CHECK(conflict([&] { graph.configure(sink->in).diagnostic_alias("b"); }));
  CHECK(conflict(
      [&] { graph.configure(source->frames).produces_tensor({.bounds = tensor_bounds(6)}); }));
  CHECK(conflict([&] {
    graph.configure(source->frames)
        .produces_tensor(
            {.representation = {.dtype = DLDataType{kDLUInt, 8, 1}}, .bounds = tensor_bounds(5)});
  }));
  CHECK(graph.snapshot().port_overrides[1].queue_depth == 6U);
}

TEST_CASE("numbers that mean nothing are refused, and leave no trace") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto sink = graph.op<Sink>("sink");
  CHECK(thrown_token([&] { graph.configure(sink->in).queue_depth(0); }) ==
        "GRAPH_QUEUE_DEPTH_ZERO");
  CHECK(thrown_token([&] { graph.configure(source->out).max_emits_per_compute(0); }) ==
        "PORT_EMITS_ZERO");
  for (const std::uint32_t depth : {0U, kMaximumQueueDepth + 1, 0xffff'ffffU}) {
    CHECK(thrown_token([&] { graph.configure(source->out).late_joiner_history_depth(depth); }) ==
          "PORT_HISTORY_INVALID");
  }
  CHECK(thrown_token([&] { graph.configure(source->out).diagnostic_alias("\n"); }) ==
        "GRAPH_NAME_INVALID");
  CHECK(graph.snapshot().port_overrides.empty());
  graph.configure(source->out).late_joiner_history_depth(kMaximumQueueDepth);
  CHECK(graph.snapshot().port_overrides.size() == 1);
}

TEST_CASE("a refusal can be had as a value") {
  Graph other{"other"};
  const auto stranger = other.op<Source>("stranger");
  Graph graph{"demo"};
  const auto sink = graph.op<Sink>("sink");
  const auto refused = graph.try_configure(stranger->out);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().token == "GRAPH_FLOW_HANDLE_INVALID");
  auto accepted = graph.try_configure(sink->in);
  REQUIRE(accepted);
  accepted->queue_depth(3);
  CHECK(graph.snapshot().port_overrides[0].queue_depth == 3U);
}

TEST_CASE("ports of an embedded graph are configured through it, also once it is closed") {
  Graph graph{"demo"};
  graph.op<Source>("source");
  const auto pair = graph.embed<Pair>("pair");
  pair->configure((*pair->first)->in).queue_depth(3);
  CHECK(thrown_token([&] { static_cast<void>(graph.configure((*pair->first)->in)); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  const GraphSnapshot snapshot = graph.snapshot();
  REQUIRE(snapshot.port_overrides.size() == 1);
  CHECK(snapshot.vertices[snapshot.port_overrides[0].port.vertex.value].path == "pair/first");
}
