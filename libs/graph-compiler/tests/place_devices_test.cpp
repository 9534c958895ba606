// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "test_graph.hpp"

namespace weftline {
namespace {

/// host source "cam" -> "up" (device pool) -> "work" (device pool) -> "show"
TestGraph upload_chain() {
  TestGraph graph;
  graph.source("cam").relay("up").relay("work").sink("show");
  graph.flow("cam.out", "up.in").flow("up.out", "work.in").flow("work.out", "show.in");
  graph.tensor_output("cam.out", pool_in(MemoryKind::kHost)).tensor_input("up.in");
  graph.tensor_output("up.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("work.in");
  graph.tensor_output("work.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("show.in");
  graph.bind("up", "out", kEmulated0).bind("work", "out", kEmulated0);
  return graph;
}

TEST_CASE("an operator is on the device of its pools and of the pools that it reads") {
  const ExecutionPlan plan = upload_chain().compile();
  REQUIRE(plan.ok());
  CHECK_FALSE(find_op(plan, "cam").device);
  CHECK(find_op(plan, "up").device == kEmulated0);
  CHECK(find_op(plan, "work").device == kEmulated0);
  CHECK(find_op(plan, "show").device == kEmulated0);
  REQUIRE(plan.tensor_allocations().size() == 3);
  CHECK_FALSE(plan.tensor_allocations()[0].device);
  CHECK(plan.tensor_allocations()[1].device == kEmulated0);
}

TEST_CASE("each lane has one stream for each device that it has an operator on") {
  TestGraph graph = upload_chain();
  graph.place("up", "lane").place("show", "lane");
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.cuda_compute_streams().size() == 2);
  CHECK(find_op(plan, "up").stream == StreamPlanId{0});
  CHECK(find_op(plan, "show").stream == StreamPlanId{0});
  CHECK(find_op(plan, "work").stream == StreamPlanId{1});
  CHECK_FALSE(find_op(plan, "cam").stream.valid());
}

TEST_CASE("a lane with operators on two devices has two streams") {
  TestGraph graph;
  for (const std::string name : {"a", "b"}) {
    graph.source(name).sink(name + "_end").flow(name + ".out", name + "_end.in");
    graph.tensor_output(name + ".out", pool_in(MemoryKind::kCudaDevice));
    graph.tensor_input(name + "_end.in").place(name, "lane").place(name + "_end", "lane");
  }
  graph.bind("a", "out", kEmulated1).bind("b", "out", kEmulated0);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.cuda_compute_streams().size() == 2);
  CHECK(plan.cuda_compute_streams()[0].device == kEmulated0);
  CHECK(find_op(plan, "a_end").stream == StreamPlanId{1});
  CHECK(find_op(plan, "b_end").stream == StreamPlanId{0});
}

TEST_CASE("a graph without devices needs no device catalog and has no stream") {
  TestGraph graph;
  graph.options = {};
  graph.source("a").sink("b").flow("a.out", "b.in");
  graph.tensor_output("a.out", pool_in(MemoryKind::kHost)).tensor_input("b.in");
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.cuda_compute_streams().empty());
}

TEST_CASE("pinned memory is made for the one device behind its edges") {
  TestGraph graph = upload_chain();
  graph.tensor_output("cam.out", pool_in(MemoryKind::kPinnedHost));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.tensor_allocations()[0].device == kEmulated0);
  CHECK_FALSE(find_op(plan, "cam").device);
}

TEST_CASE("pinned memory is made for the device of its producer") {
  TestGraph graph;
  graph.op("a", {}, {"device", "pinned"}).sink("b").sink("c");
  graph.flow("a.device", "b.in").flow("a.pinned", "c.in");
  graph.tensor_output("a.device", pool_in(MemoryKind::kCudaDevice)).tensor_input("b.in");
  graph.tensor_output("a.pinned", pool_in(MemoryKind::kPinnedHost)).tensor_input("c.in");
  graph.bind("a", "device", kEmulated1);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.tensor_allocations()[1].device == kEmulated1);
  CHECK_FALSE(find_op(plan, "c").device);
}

TEST_CASE("tensors that are passed through say nothing about a device") {
  TestGraph graph = upload_chain();
  graph.tensor_output("work.out", {});
  graph.options.deployment = {};
  graph.bind("up", "out", kEmulated0);
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(find_op(plan, "work").device == kEmulated0);
  CHECK_FALSE(find_op(plan, "show").device);
}

TEST_CASE("the same binding twice is one binding") {
  CHECK(upload_chain().bind("up", "out", kEmulated0).compile().ok());
}

TEST_CASE("a missing binding is reported once, not at everything behind it") {
  TestGraph graph = upload_chain();
  graph.options.deployment = {};
  graph.bind("work", "out", kEmulated0).tensor_output("cam.out", pool_in(MemoryKind::kPinnedHost));
  graph.tensor_output("work.out", {});
  graph.options.deployment = {};
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.diagnostics().size() == 1);
  CHECK(plan.diagnostics()[0].token == "DEVICE_UNRESOLVED");
  CHECK(plan.diagnostics()[0].place == "up.out");
}

}  // namespace
}  // namespace weftline
