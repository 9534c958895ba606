// SPDX-License-Identifier: Apache-2.0
//
// The records of topics and placements as JSON and as text.

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sample_plan.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

PlanRecords placed_plan() {
  constexpr DeviceId kDevice{DeviceKind::kEmulated, 0};
  PlanRecords plan = sample_plan();
  plan.external_topics = {{.declaration = 0,
                           .direction = TopicDirection::kImport,
                           .uri = "weftline://in",
                           .endpoint = EndpointId{0},
                           .endpoint_name = "in",
                           .name_origin = EndpointNameOrigin::kGenerated,
                           .payload = payload_identity<float>(),
                           .service_id = "sample/in",
                           .memory_conversion = MemoryConversionPolicy::kDisable,
                           .generation_capacity = 2,
                           .device = kDevice}};
  plan.import_edges = {{.endpoint = EndpointId{0},
                        .endpoint_name = "in",
                        .target = {VertexId{1}, 0},
                        .queue_depth = 8,
                        .max_borrowed_samples = 3,
                        .held_samples = 2,
                        .device = kDevice}};
  plan.tensor_output_placements = {
      {{VertexId{0}, 0}, kDevice, TensorOutputPlacementOrigin::kGreenContext}};
  plan.green_context_pools = {{kDevice, 16, 4, {GreenContextPlanId{0}, GreenContextPlanId{1}}}};
  plan.green_context_resources = {
      {GreenContextPlanId{0}, kDevice, GreenContextRole::kDedicatedPartition, PartitionId{0},
       "fast", 12, GreenContextSource::kDeveloperBinding},
      {GreenContextPlanId{1},
       kDevice,
       GreenContextRole::kSharedServiceResidual,
       {},
       "",
       4,
       GreenContextSource::kResidualPolicy}};
  plan.partition_placements = {{PartitionId{0},
                                "fast",
                                {.affinity = CpuAffinity{{{0, 3}, {8, 8}}},
                                 .scheduling = {SchedulingPolicy::kFifo, 50},
                                 .wake_mode = WakeMode::kPark,
                                 .irq_isolation = IrqIsolation::kPreferIsolated}}};
  plan.support_thread_placements = {{SupportThreadRole::kChannelPump, CpuAffinity{{{2, 2}}},
                                     ProbeFailurePolicy::kWarnAndRecordFallback}};
  plan.profile_manifest = {.requested = Profile::kStrict,
                           .effective = Profile::kStrict,
                           .plan_schema_version = kPlanSchemaVersion};
  plan.cuda_compute_streams[0].green_context = GreenContextPlanId{0};
  return plan;
}

std::string dump(const PlanRecords& plan, std::string_view key) {
  return plan_to_json(plan).find(key)->dump();
}

TEST_CASE("topics and placements are written with all their fields") {
  const PlanRecords plan = placed_plan();
  CHECK(dump(plan, "external_topics") ==
        R"([{"declaration":0,"device":"emulated:0","direction":"import","endpoint":0,)"
        R"("endpoint_name":"in","generation_capacity":2,"locality":"cross_process",)"
        R"("memory_conversion":"disable","name_origin":"generated","payload":{"alignment":4,)"
        R"("fields":[],"kind":"scalar","name":"float32","size":4,"version":0},)"
        R"("service_id":"sample/in","uri":"weftline://in"}])");
  CHECK(dump(plan, "import_edges") ==
        R"([{"device":"emulated:0","endpoint":0,"endpoint_name":"in","held_samples":2,)"
        R"("max_borrowed_samples":3,"queue_depth":8,"queue_policy":"blocking",)"
        R"("selection":{"cache_capacity":0,"cardinality":"one","edge":null,)"
        R"("lookahead_ns":null,"lookbehind_ns":null,"max_age_ns":null,)"
        R"("max_age_parameter":null,"max_reuses":null,"max_selected_samples":1,)"
        R"("missing":null,"origin":"core_synthesized","pending_cache":0,)"
        R"("reference_clock":null,"reuse_cache":0,"selector":"exact","selector_cache":0,)"
        R"("triggering":true},"target":{"port":0,"vertex":1}}])");
  CHECK(dump(plan, "tensor_output_placements") ==
        R"([{"device":"emulated:0","origin":"green_context","output":{"port":0,"vertex":0}}])");
  CHECK(dump(plan, "green_context_pools") ==
        R"([{"device":"emulated:0","quantum_sms":4,"resources":[0,1],"total_sm_count":16}])");
  CHECK(dump(plan, "green_context_resources") ==
        R"([{"device":"emulated:0","id":0,"partition":0,"partition_name":"fast",)"
        R"("role":"dedicated_partition","sm_count":12,"source":"developer_binding"},)"
        R"({"device":"emulated:0","id":1,"partition":null,"partition_name":null,)"
        R"("role":"shared_service_residual","sm_count":4,"source":"residual_policy"}])");
  CHECK(dump(plan, "partition_placements") ==
        R"([{"partition":0,"partition_name":"fast","requested":{"affinity":"0-3,8",)"
        R"("irq_isolation":"prefer_isolated","probe_failure_policy":"fail_admission",)"
        R"("scheduling_policy":"fifo","scheduling_priority":50,"wake_mode":"park"}}])");
  CHECK(dump(plan, "support_thread_placements") ==
        R"([{"affinity":"2","probe_failure_policy":"warn_and_record_fallback",)"
        R"("role":"channel_pump"}])");
  CHECK(dump(plan, "profile_manifest") ==
        R"({"effective":"strict","plan_schema_version":)" + std::to_string(kPlanSchemaVersion) +
            R"(,"policy_id":"weftline.profiles.1","requested":"strict"})");
  CHECK(dump(plan, "cuda_compute_streams") ==
        R"([{"device":"emulated:0","green_context":0,"id":0,"partition":0}])");
}

TEST_CASE("a change in any record of topics and placements changes the digest") {
  const std::string digest = plan_digest(placed_plan());
  std::vector<PlanRecords> changed(13, placed_plan());
  changed[0].external_topics[0].service_id = "other";
  changed[1].external_topics[0].memory_conversion = MemoryConversionPolicy::kDefault;
  changed[2].import_edges[0].held_samples = 1;
  changed[3].tensor_output_placements[0].origin = TensorOutputPlacementOrigin::kBound;
  changed[4].green_context_pools[0].resources.pop_back();
  changed[5].green_context_resources[1].role = GreenContextRole::kReservedResidual;
  changed[6].partition_placements[0].requested.affinity.reset();
  changed[7].partition_placements[0].requested.scheduling.priority = 51;
  changed[8].support_thread_placements[0].role = SupportThreadRole::kController;
  changed[9].profile_manifest.requested = Profile::kDeployment;
  changed[10].cuda_compute_streams[0].green_context = {};
  changed[11].device_catalog.devices[0].green_contexts.minimum_partition_sms = 8;
  changed[12].external_topics[0].generation_capacity = 3;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    INFO("change " << i);
    CHECK(plan_digest(changed[i]) != digest);
  }
}

TEST_CASE("imports, SMs and threads have sections of their own, where there are any") {
  const std::string text = render_plan(placed_plan());
  CHECK(text.find(", profile strict\n") != std::string::npos);
  CHECK(text.find(R"(
Streams
  id  device      partition
   0  emulated:0  auto:camera
      in green context 0
)") != std::string::npos);
  CHECK(text.find(R"(
Outputs that pass device memory through
  output         device      from
  camera.frames  emulated:0  green_context

Green contexts
  id  device      role                     partition  SMs  of
   0  emulated:0  dedicated_partition      fast        12  16
   1  emulated:0  shared_service_residual  -            4  16

Threads, as asked for
  thread        CPUs   policy  priority  waits by  interrupts
  lane fast     0-3,8  fifo          50  park      prefer_isolated
  channel_pump  2      -              -  -         -
)") != std::string::npos);
  CHECK(text.find(R"(
Imports
  endpoint  to       queue     depth  borrowed  device      generations
  in        gray.in  blocking      8    2 of 3  emulated:0            2
)") != std::string::npos);
  const std::string plain = render_plan(sample_plan());
  for (const char* section : {"Imports", "Green contexts", "Threads", "profile"}) {
    CHECK(plain.find(section) == std::string::npos);
  }
}

TEST_CASE("a damaged plan is rendered, too") {
  PlanRecords plan = placed_plan();
  plan.green_context_resources.clear();
  plan.external_topics.clear();
  plan.import_edges[0].target = {VertexId{9}, 9};
  plan.profile_manifest.requested = static_cast<Profile>(9);
  CHECK_FALSE(render_plan(plan).empty());
  CHECK(dump(plan, "profile_manifest").find(R"("requested":"unknown")") != std::string::npos);
}

}  // namespace
}  // namespace weftline
