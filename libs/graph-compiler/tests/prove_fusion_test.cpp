// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>

#include "test_graph.hpp"

namespace weftline {
namespace {

/// "up" (device pool) -> "work" (device pool) -> "show", all in one lane.
TestGraph device_chain() {
  TestGraph graph;
  graph.source("up").relay("work").sink("show");
  graph.flow("up.out", "work.in").flow("work.out", "show.in");
  graph.tensor_output("up.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("work.in");
  graph.tensor_output("work.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("show.in");
  graph.bind("up", "out", kEmulated0).bind("work", "out", kEmulated0);
  return graph;
}

const FusionDecisionRecord& decision(const ExecutionPlan& plan, std::size_t index) {
  REQUIRE(plan.records().fusion_decisions.size() > index);
  return plan.records().fusion_decisions[index];
}

const TensorAllocationPlanRecord& pool(const ExecutionPlan& plan, std::size_t index) {
  REQUIRE(plan.tensor_allocations().size() > index);
  return plan.tensor_allocations()[index];
}

}  // namespace

TEST_CASE("a chain of device tensors in one lane needs no fences") {
  const ExecutionPlan plan = device_chain().compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.records().fusion_decisions.size() == 2);
  for (const std::size_t index : {0U, 1U}) {
    CHECK(decision(plan, index).fused);
    CHECK(decision(plan, index).reason == "one writer, one reader, both on stream 0");
    CHECK(pool(plan, index).fused_stream == StreamPlanId{0});
  }
}

TEST_CASE("two lanes have two streams, and fences between them unless all share one stream") {
  TestGraph graph = device_chain();
  graph.place("work", "other");
  const ExecutionPlan apart = graph.compile();
  REQUIRE(apart.ok());
  CHECK_FALSE(decision(apart, 0).fused);
  CHECK(decision(apart, 0).reason == "up is on stream 2, work on stream 0");
  CHECK_FALSE(pool(apart, 0).fused_stream.valid());

  graph.options.cuda_execution.compute_stream_policy =
      CudaComputeStreamPolicy::kSharedProcessDevice;
  const ExecutionPlan shared = graph.compile();
  REQUIRE(shared.cuda_compute_streams().size() == 1);
  CHECK_FALSE(shared.cuda_compute_streams()[0].partition.valid());
  CHECK(decision(shared, 0).fused);
  CHECK(decision(shared, 1).fused);
  // The policy changes no pool.
  CHECK(pool(shared, 0).slot_count == pool(apart, 0).slot_count);
  CHECK(pool(shared, 0).max_release_streams == pool(apart, 0).max_release_streams);
  CHECK(shared.digest() != apart.digest());
}

TEST_CASE("a second successor of any kind keeps all fences") {
  SECTION("another operator") {
    TestGraph graph = device_chain();
    graph.sink("second").flow("up.out", "second.in").tensor_input("second.in");
    graph.options.cuda_execution.compute_stream_policy =
        CudaComputeStreamPolicy::kSharedProcessDevice;
    const ExecutionPlan plan = graph.compile();
    REQUIRE(plan.ok());
    CHECK(decision(plan, 0).reason == "up.out has 2 successors");
    CHECK(decision(plan, 1).reason == "up.out has 2 successors");
    CHECK_FALSE(pool(plan, 0).fused_stream.valid());
  }
  SECTION("an exported topic") {
    TestGraph graph = device_chain();
    graph.topic("weftline://frames", {"up.out"});
    const ExecutionPlan plan = graph.compile();  // rejected, and decided all the same
    CHECK(decision(plan, 0).reason == "up.out is exported as weftline://frames, too");
  }
}

TEST_CASE("a reader that may hand the tensor on keeps the fences") {
  TestGraph graph = device_chain();
  TensorOutputSpec passed = pool_in(MemoryKind::kCudaDevice);
  passed.storage = TensorOutputStorage::kPassThrough;
  graph.tensor_output("work.out", passed);
  graph.options.deployment = {};
  graph.bind("up", "out", kEmulated0);
  const ExecutionPlan plan = graph.compile();
  INFO(graph.diagnostics());
  CHECK(decision(plan, 0).reason == "work may hand the tensor on by out, which has no pool");
}

TEST_CASE("host and pinned memory have no decision") {
  for (const MemoryKind kind : {MemoryKind::kHost, MemoryKind::kPinnedHost}) {
    TestGraph graph;
    graph.source("cam").sink("show").flow("cam.out", "show.in");
    graph.tensor_output("cam.out", pool_in(kind)).tensor_input("show.in");
    const ExecutionPlan plan = graph.compile();
    CHECK(plan.records().fusion_decisions.empty());
  }
}

}  // namespace weftline
