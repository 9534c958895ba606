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

/// A camera of 60 of at most 120 Hz with 6 MiB frames, whose consumer keeps four of them.
TestGraph selectable_camera() {
  constexpr std::uint64_t kMebibyte = 1'048'576;
  TestGraph graph = fan(MemoryKind::kHost, {{}});
  graph.output("a.out").tensor->bounds = tensor_bounds(6 * kMebibyte);
  graph.selectable("a.out", Rate::hz(60), Rate::hz(120));
  graph.accumulates("c0.in", Horizon::seconds(1, 15)).input("c0.in").retained_samples = 4;
  return graph;
}

TEST_CASE("6 MiB frames at 60 of 120 Hz are 14 entries or 84 MiB, and at most 22 or 132 MiB") {
  constexpr std::uint64_t kMebibyte = 1'048'576;
  const ExecutionPlan plan = selectable_camera().compile();
  INFO(format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  const ProviderAllocationPlanRecord& provider = plan.provider_allocation_plans()[0];
  CHECK(provider.entry_bytes == 6 * kMebibyte);
  CHECK(provider.active_entries == 8 + 4 + 1 + 1);
  CHECK(provider.active_bytes() == 84 * kMebibyte);
  CHECK(provider.admitted_entries == 16 + 4 + 1 + 1);
  CHECK(provider.admitted_bytes() == 132 * kMebibyte);
  CHECK(plan.tensor_allocations()[0].active_slot_count == 14);
  CHECK(plan.tensor_allocations()[0].slot_count == 22);
}

TEST_CASE("spare slots of a pool never widen the queue") {
  const ExecutionPlan plan = selectable_camera().compile();
  CHECK(plan.tensor_allocations()[0].slot_count == 22);
  CHECK(plan.payload_edges()[0].queue_depth == 8);
  TestGraph keeps_more = selectable_camera();
  keeps_more.input("c0.in").retained_samples = 400;
  const ExecutionPlan wider = keeps_more.compile();
  CHECK(wider.tensor_allocations()[0].slot_count == 418);
  CHECK(wider.payload_edges()[0].queue_depth == 8);
}

TEST_CASE("a pool counts a given depth, not what the rates recommend") {
  TestGraph graph = selectable_camera();
  graph.snapshot().flows[0].options.queue_depth = 4;
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.tensor_allocations()[0].slot_count == 4 + 4 + 1 + 1);
  CHECK(plan.tensor_allocations()[0].active_slot_count == 10);
}

TEST_CASE("what several consumers keep adds up, and bytes are logical ones") {
  TestGraph graph = fan(MemoryKind::kHost, {{.queue_depth = 5}, {.queue_depth = 2}});
  graph.input("c0.in").retained_samples = 3;
  graph.input("c1.in").retained_samples = 2;
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.tensor_allocations()[0].slot_count == 1 + 6 + 3 + 2);
  CHECK(plan.provider_allocation_plans()[0].admitted_bytes() == 12'000);
  CHECK(plan.tensor_allocations()[0].total_bytes() == 12'288);
  const auto& contributors = plan.tensor_allocations()[0].contributors;
  CHECK(contributors[1].maximum_distinct_slots == 5 + 1 + 3);
  CHECK(contributors[1].reasons == std::vector{Reason::kAcceptedPublication,
                                               Reason::kFrameworkBorrow, Reason::kTemporalCache});
}

TEST_CASE("a pool of 2^32 - 1 slots is counted, and one more is refused") {
  TestGraph graph = fan(MemoryKind::kHost, {{.queue_depth = 1}});
  graph.output("a.out").tensor->bounds = tensor_bounds(1);
  graph.input("c0.in").retained_samples = 0xffff'ffffU - 3;
  CHECK(slots(graph) == 0xffff'ffffU);
  for (const std::uint32_t more : {0xffff'ffffU - 2, 0xffff'ffffU}) {
    graph.input("c0.in").retained_samples = more;
    const ExecutionPlan plan = graph.compile();
    REQUIRE(plan.diagnostics().size() == 1);
    CHECK(plan.diagnostics()[0].token == "TENSOR_POOL_BYTES_OVERFLOW");
    CHECK(plan.tensor_allocations()[0].slot_count == 0);
    CHECK(plan.provider_allocation_plans()[0].admitted_entries == 0);
  }
}

TEST_CASE("an exported pool has slots for what waits at its peers and what they borrow") {
  TestGraph graph;
  graph.source("a").tensor_output("a.out", pool_in(MemoryKind::kHost));
  graph.topic("weftline://t", {"a.out"},
              {.bounds = {.publisher = {.max_subscribers = 3},
                          .subscriber = {.queue_depth = 5, .max_borrowed_samples = 2}}});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const TensorAllocationPlanRecord& pool = plan.tensor_allocations()[0];
  CHECK(pool.slot_count == 1 + 5 + 3 * 2);
  CHECK(pool.active_slot_count == pool.slot_count);
  REQUIRE(pool.contributors.size() == 2);
  CHECK(pool.contributors[1].contributor == "endpoint t");
  CHECK(pool.contributors[1].maximum_distinct_slots == 5 + 3 * 2);
  CHECK(pool.contributors[1].reasons == std::vector{TensorSlotClaimReason::kTransportFanOut,
                                                    TensorSlotClaimReason::kSubscriberBorrow});
  const auto& dependency = plan.pool_capacity_dependencies()[0];
  CHECK_FALSE(dependency.edge.valid());
  CHECK(dependency.endpoint_name == "t");
}

}  // namespace
}  // namespace weftline
