// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "test_graph.hpp"

namespace weftline {
namespace {

using Reason = TensorSlotClaimReason;

constexpr ConnectionOptions kDrop2{.queue_depth = 2, .queue_policy = QueuePolicy::kDropOldest};

/// "a" with a pool, and consumers "c0", "c1", … behind queues of the given options.
TestGraph fan(MemoryKind kind, const std::vector<ConnectionOptions>& arms) {
  TestGraph graph;
  graph.source("a").tensor_output("a.out", pool_in(kind));
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::string name = "c" + std::to_string(i);
    graph.sink(name).tensor_input(name + ".in").flow("a.out", name + ".in", arms[i]);
  }
  return graph;
}

std::uint32_t slots(const TestGraph& graph) {
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  return plan.tensor_allocations()[0].slot_count;
}

TEST_CASE("slots are rounded up to 256 bytes") {
  TestGraph graph = fan(MemoryKind::kHost, {{}});
  CHECK(graph.compile().tensor_allocations()[0].slot_bytes == 1'024);
  graph.output("a.out").tensor->bounds = tensor_bounds(1'024);
  CHECK(graph.compile().tensor_allocations()[0].slot_bytes == 1'024);
  graph.output("a.out").tensor->bounds = tensor_bounds(1);
  CHECK(graph.compile().tensor_allocations()[0].slot_bytes == 256);
}

TEST_CASE("a pool that nobody receives from has the producer's slot") {
  CHECK(slots(fan(MemoryKind::kHost, {})) == 1);
}

TEST_CASE("one consumer adds its queue and what is in its hands") {
  CHECK(slots(fan(MemoryKind::kHost, {{.queue_depth = 5}})) == 1 + 5 + 1);
}

TEST_CASE("arms hold the same samples, so the longest one counts") {
  CHECK(slots(fan(MemoryKind::kHost,
                  {{.queue_depth = 5}, {.queue_depth = 2}, {.queue_depth = 1}})) == 1 + 5 + 1);
}

TEST_CASE("behind a drop-oldest queue a consumer may keep an old sample of its own") {
  CHECK(slots(fan(MemoryKind::kHost, {kDrop2})) == 1 + 2 + 1);
  CHECK(slots(fan(MemoryKind::kHost, {kDrop2, kDrop2})) == 1 + 2 + 2);
  CHECK(slots(fan(MemoryKind::kHost, {{.queue_depth = 5}, kDrop2})) == 1 + 6 + 1);
}

TEST_CASE("on a device each consumer's stream adds two retiring slots") {
  TestGraph graph = fan(MemoryKind::kCudaDevice, {{.queue_depth = 5}, {.queue_depth = 2}});
  graph.bind("a", "out", kEmulated0);
  CHECK(slots(graph) == 1 + 6 + 2 + 2);
}

TEST_CASE("a pinned pool counts retiring slots of the streams that read it only") {
  TestGraph graph = fan(MemoryKind::kPinnedHost, {{.queue_depth = 3}, {.queue_depth = 3}});
  graph.vertex("c1").outputs.push_back({.name = "out"});
  graph.tensor_output("c1.out", pool_in(MemoryKind::kCudaDevice)).bind("c1", "out", kEmulated0);
  CHECK(slots(graph) == 1 + 4 + 2);
}

TEST_CASE("a consumer on a device adds nothing to a pool in host memory") {
  TestGraph graph = fan(MemoryKind::kHost, {{.queue_depth = 3}});
  graph.vertex("c0").outputs.push_back({.name = "out"});
  graph.tensor_output("c0.out", pool_in(MemoryKind::kCudaDevice)).bind("c0", "out", kEmulated0);
  CHECK(slots(graph) == 1 + 4);
}

TEST_CASE("an operator that passes tensors through adds the arms behind it") {
  TestGraph graph = fan(MemoryKind::kHost, {{.queue_depth = 3}, {.queue_depth = 1}});
  graph.vertex("c0").outputs.push_back({.name = "out"});
  graph.tensor_output("c0.out", {}).sink("late").tensor_input("late.in");
  graph.flow("c0.out", "late.in", {.queue_depth = 7});
  CHECK(slots(graph) == 1 + 4 + 8);
}

TEST_CASE("a pass-through output that is reached twice is counted once") {
  TestGraph graph;
  graph.source("a").op("mix", {"a", "b"}, {"out"}).sink("end");
  graph.tensor_output("a.out", pool_in(MemoryKind::kHost)).tensor_output("mix.out", {});
  graph.tensor_input("mix.a").tensor_input("mix.b").tensor_input("end.in");
  graph.flow("a.out", "mix.a").flow("a.out", "mix.b").flow("mix.out", "end.in");
  CHECK(slots(graph) == 1 + 5 + 5);
}

TEST_CASE("contributors say who holds how many slots, and why") {
  TestGraph graph = fan(MemoryKind::kCudaDevice, {{.queue_depth = 5}});
  const ExecutionPlan plan = graph.bind("a", "out", kEmulated0).compile();
  const auto& contributors = plan.tensor_allocations()[0].contributors;
  REQUIRE(contributors.size() == 2);
  CHECK(contributors[0].contributor == "producer");
  CHECK(contributors[0].maximum_distinct_slots == 1);
  CHECK(contributors[0].reasons == std::vector{Reason::kProducerLoan});
  CHECK(contributors[1].contributor == "c0.in");
  CHECK(contributors[1].maximum_distinct_slots == 8);
  CHECK(contributors[1].reasons == std::vector{Reason::kAcceptedPublication,
                                               Reason::kFrameworkBorrow,
                                               Reason::kConsumerCudaRelease});
}

TEST_CASE("a slot has release streams for all operators on its device") {
  for (const std::size_t consumers : {std::size_t{2}, std::size_t{4}}) {
    TestGraph graph = fan(MemoryKind::kCudaDevice, std::vector<ConnectionOptions>(consumers));
    graph.source("host").sink("log").flow("host.out", "log.in").bind("a", "out", kEmulated0);
    const ExecutionPlan plan = graph.compile();
    CHECK(plan.tensor_allocations()[0].max_release_streams == 2 * consumers + 1);
  }
}

TEST_CASE(
    "a host pool has no release streams, a host producer of pinned memory one more operator") {
  CHECK(fan(MemoryKind::kHost, {{}}).compile().tensor_allocations()[0].max_release_streams == 0);
  TestGraph graph = fan(MemoryKind::kPinnedHost, {{}});
  graph.vertex("c0").outputs.push_back({.name = "out"});
  graph.tensor_output("c0.out", pool_in(MemoryKind::kCudaDevice)).bind("c0", "out", kEmulated0);
  CHECK(graph.compile().tensor_allocations()[0].max_release_streams == 3);
}

TEST_CASE("the largest rank is the stated rank, else the bound, and at least 1") {
  TestGraph graph = fan(MemoryKind::kHost, {{}});
  TensorOutputSpec& spec = *graph.output("a.out").tensor;
  CHECK(graph.compile().tensor_allocations()[0].max_rank == 2);
  spec.bounds.max_rank = 5;
  CHECK(graph.compile().tensor_allocations()[0].max_rank == 2);
  spec.representation.rank.reset();
  CHECK(graph.compile().tensor_allocations()[0].max_rank == 5);
  spec.representation.rank = 0;
  CHECK(graph.compile().tensor_allocations()[0].max_rank == 1);
}

TEST_CASE("a chain of 5,000 operators that pass tensors through is counted to its end") {
  constexpr std::uint32_t kLength = 5'000;
  TestGraph graph = fan(MemoryKind::kHost, {});
  auto& snapshot = graph.snapshot();
  for (std::uint32_t i = 1; i <= kLength; ++i) {
    VertexSnapshot relay;
    relay.path = "p" + std::to_string(100'000 + i);
    relay.inputs = {{.name = "in", .payload = payload_identity<Tensor>()}};
    relay.outputs = {{.name = "out", .payload = payload_identity<Tensor>()}};
    snapshot.vertices.push_back(std::move(relay));
    snapshot.flows.push_back({{VertexId{i - 1}, 0}, {VertexId{i}, 0}, {.queue_depth = 1}});
  }
  CHECK(slots(graph) == 1 + 2 * kLength);
}

}  // namespace
}  // namespace weftline
