// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "test_graph.hpp"

namespace weftline {
namespace {

using Role = GreenContextRole;

/// "a" in lane "fast" -> "b" in lane "slow", both with pools on emulated:0 of 18 SMs.
TestGraph two_lanes() {
  TestGraph graph;
  graph.source("a").relay("b").sink("c").flow("a.out", "b.in").flow("b.out", "c.in");
  graph.tensor_output("a.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("b.in");
  graph.tensor_output("b.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("c.in");
  graph.place("a", "fast").place("b", "slow").place("c", "slow");
  graph.bind("a", "out", kEmulated0).bind("b", "out", kEmulated0);
  graph.options.devices.devices[0].sm_count = 18;
  graph.options.devices.devices[0].green_contexts = {4, 2};
  return graph;
}

TestGraph& bind_sms(TestGraph& graph, std::string partition, std::uint32_t sm_count) {
  graph.options.deployment.bind_green_context({std::move(partition), kEmulated0, sm_count});
  return graph;
}

TEST_CASE("a device's SMs are divided exactly: bound, shared by the rest, and too few to use") {
  TestGraph graph = two_lanes();
  const ExecutionPlan plan = bind_sms(graph, "fast", 8).compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.green_context_pools().size() == 1);
  const GreenContextPoolPlanRecord& pool = plan.green_context_pools().front();
  CHECK(pool.total_sm_count == 18);
  CHECK(pool.quantum_sms == 4);
  REQUIRE(pool.resources.size() == 3);
  const auto resources = plan.green_context_resources();
  CHECK(resources[0].role == Role::kDedicatedPartition);
  CHECK(resources[0].partition_name == "fast");
  CHECK(resources[0].partition == find_op(plan, "a").partition);
  CHECK(resources[0].sm_count == 8);
  CHECK(resources[0].source == GreenContextSource::kDeveloperBinding);
  CHECK(resources[1].role == Role::kSharedServiceResidual);
  CHECK(resources[1].sm_count == 8);
  CHECK(resources[1].source == GreenContextSource::kResidualPolicy);
  CHECK(resources[2].role == Role::kReservedResidual);
  CHECK(resources[2].sm_count == 2);
  const auto streams = plan.cuda_compute_streams();
  CHECK(streams[find_op(plan, "a").stream.value].green_context == GreenContextPlanId{0});
  CHECK(streams[find_op(plan, "b").stream.value].green_context == GreenContextPlanId{1});
}

TEST_CASE("without a binding no stream has SMs of its own") {
  const ExecutionPlan plan = two_lanes().compile();
  REQUIRE(plan.ok());
  CHECK(plan.green_context_pools().empty());
  for (const auto& stream : plan.cuda_compute_streams()) CHECK_FALSE(stream.green_context.valid());
}

TEST_CASE("all SMs may be bound where no other work is on the device") {
  TestGraph graph = two_lanes();
  bind_sms(graph, "fast", 4);
  const ExecutionPlan plan = bind_sms(graph, "slow", 12).compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.green_context_resources().size() == 3);
  CHECK(plan.green_context_resources()[2].role == Role::kReservedResidual);
}

TEST_CASE("a shared stream is one for each green context, so that nothing fuses across them") {
  TestGraph graph = two_lanes();
  graph.options.cuda_execution.compute_stream_policy =
      CudaComputeStreamPolicy::kSharedProcessDevice;
  const ExecutionPlan one = graph.compile();
  REQUIRE(one.ok());
  CHECK(one.cuda_compute_streams().size() == 1);
  CHECK(one.records().fusion_decisions[0].fused);
  const ExecutionPlan divided = bind_sms(graph, "fast", 4).compile();
  REQUIRE(divided.ok());
  CHECK(divided.cuda_compute_streams().size() == 2);
  CHECK_FALSE(divided.records().fusion_decisions[0].fused);
  CHECK(divided.records().fusion_decisions[1].fused);
}

TEST_CASE("what a lane with SMs of one device passes through is there, of two is nowhere") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in").place("a", "fast").tensor_input("b.in");
  graph.tensor_output("a.out", {.representation = {.memory_kind = MemoryKind::kCudaDevice}});
  for (DeviceDescription& device : graph.options.devices.devices) {
    device.sm_count = 8;
    device.green_contexts = {2, 2};
  }
  const ExecutionPlan plan = bind_sms(graph, "fast", 4).compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.tensor_output_placements().size() == 1);
  CHECK(plan.tensor_output_placements()[0].origin == TensorOutputPlacementOrigin::kGreenContext);
  CHECK(find_op(plan, "a").device == kEmulated0);
  CHECK(find_op(plan, "b").device == kEmulated0);

  graph.options.deployment.bind_green_context({"fast", kEmulated1, 4});
  const std::string said = graph.diagnostics();
  CHECK(said.find("error DEVICE_UNRESOLVED at a.out") != std::string::npos);
}

TEST_CASE("SMs place no operator that has nothing on the device") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in").place("a", "fast");
  graph.options.devices.devices[0].sm_count = 8;
  graph.options.devices.devices[0].green_contexts = {2, 2};
  const ExecutionPlan plan = bind_sms(graph, "fast", 4).compile();
  CHECK(plan.ok());
  CHECK_FALSE(find_op(plan, "a").device);
  CHECK(plan.diagnostics().size() == 1);
}

TEST_CASE("the order of bindings leaves no trace") {
  TestGraph one = two_lanes();
  bind_sms(bind_sms(one, "fast", 4), "slow", 8);
  TestGraph other = two_lanes();
  bind_sms(bind_sms(other, "slow", 8), "fast", 4);
  CHECK(one.compile().json() == other.compile().json());
}

TEST_CASE("threads are recorded by lane, as asked for") {
  TestGraph graph = two_lanes();
  const ThreadPlacement fifo{.affinity = CpuAffinity{{{1, 1}, {3, 3}}},
                             .scheduling = {SchedulingPolicy::kFifo, 99},
                             .wake_mode = WakeMode::kBusyPoll};
  graph.options.deployment.place_partition({"slow", fifo}).place_partition({"fast", {}});
  graph.options.deployment.place_support_thread(
      {.role = SupportThreadRole::kChannelPump, .affinity = CpuAffinity{{{0, 3}}}});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.partition_placements().size() == 2);
  CHECK(plan.partition_placements()[0].partition_name == "fast");
  CHECK(plan.partition_placements()[1].partition == find_op(plan, "b").partition);
  CHECK(plan.partition_placements()[1].requested == fifo);
  REQUIRE(plan.support_thread_placements().size() == 1);
  CHECK(plan.support_thread_placements()[0].affinity.to_string() == "0-3");
}

TEST_CASE("a laxer profile accepts what a stricter one refuses, and the plan says which it had") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in", {.queue_depth = 3});
  TestGraph lax = graph;
  lax.sink("c").flow("a.out", "c.in");
  for (const Profile profile : {Profile::kDevelopment, Profile::kDeployment, Profile::kStrict}) {
    graph.options.profile = lax.options.profile = profile;
    const ExecutionPlan plan = graph.compile();
    CHECK(plan.ok());
    CHECK(plan.profile_manifest().requested == profile);
    CHECK(plan.profile_manifest().effective == profile);
    CHECK(plan.profile_manifest().policy_id == "weftline.profiles.1");
    CHECK(lax.compile().ok() == (profile == Profile::kDevelopment));
  }
}

}  // namespace
}  // namespace weftline
