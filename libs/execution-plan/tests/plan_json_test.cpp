// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/plan_json.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sample_plan.hpp"
#include "weftline/core/digest.hpp"

namespace weftline {
namespace {

std::string dump(const PlanRecords& plan, std::string_view key) {
  return plan_to_json(plan).find(key)->dump();
}

TEST_CASE("each record is written with all its fields, keys sorted, absent values as null") {
  const PlanRecords plan = sample_plan();
  CHECK(dump(plan, "schema") == R"("weftline.execution-plan")");
  CHECK(dump(plan, "version") == "2");
  CHECK(dump(plan, "accepted") == "true");
  CHECK(dump(plan, "graph_name") == R"("sample")");
  CHECK(
      dump(plan, "clocks") ==
      R"([{"external_driver_admitted":false,"id":0,"independent_progress":true,"is_default":true,"name":"wall","steady":true}])");
  CHECK(dump(plan, "payload_edges") ==
        R"([{"crosses_partitions":false,"depth_origin":"default","edge":0,"queue_depth":4,)"
        R"("queue_policy":"blocking","source":{"port":0,"vertex":0},)"
        R"("target":{"port":0,"vertex":1},"topic_name":""}])");
  CHECK(dump(plan, "export_edges") ==
        R"([{"endpoint":0,"endpoint_name":"mean","source":{"port":0,"vertex":1}}])");
  CHECK(dump(plan, "execution_partitions") ==
        R"([{"id":0,"members":[0,1],"name":"auto:camera","origin":"automatic"}])");
  CHECK(dump(plan, "partition_decisions") ==
        R"([{"kind":"start","reason":"nothing leads here",)"
        R"("reason_code":"independent_readiness_root","vertex":0},)"
        R"({"kind":"join","reason":"continues the chain of camera",)"
        R"("reason_code":"linear_chain","vertex":1}])");
  CHECK(dump(plan, "cuda_compute_streams") ==
        R"([{"device":"emulated:0","green_context":null,"id":0,"partition":0}])");
  CHECK(dump(plan, "cuda_compute_stream_policy") == R"("partition_device")");
  CHECK(dump(plan, "fusion_decisions") ==
        R"([{"edge":0,"fused":true,"reason":"one writer, one reader"}])");
  CHECK(dump(plan, "tensor_allocations") ==
        R"([{"active_slot_count":6,"contributors":[{"contributor":"producer",)"
        R"("maximum_distinct_slots":1,)"
        R"("reasons":["producer_loan"]},{"contributor":"gray.in","maximum_distinct_slots":7,)"
        R"("reasons":["accepted_publication","consumer_cuda_release"]}],"device":"emulated:0",)"
        R"("fused_stream":0,"id":0,"max_rank":3,"max_release_streams":3,)"
        R"("memory_kind":"cuda_device",)"
        R"("output":{"port":0,"vertex":0},"slot_bytes":1024,"slot_count":8,"total_bytes":8192}])");
  CHECK(
      dump(plan, "device_catalog") ==
      R"({"devices":[{"green_contexts":{"coscheduled_alignment_sms":0,"minimum_partition_sms":0},)"
      R"("hardware_queues":0,"id":"emulated:0","memory_bytes":0,"name":"laptop",)"
      R"("sm_count":0,"stream_memory_operations":false,)"
      R"("uuid":"00000000000000000000000000000000"}],"host_cpu_count":2})");
  CHECK(dump(plan, "diagnostics") ==
        R"([{"fix":"drop it","message":"it is empty","place":"partition x",)"
        R"("severity":"warning","token":"PARTITION_EMPTY"}])");
}

TEST_CASE("an operator is written with its ports, trigger and place") {
  const std::string kNoHash = digest_text({});
  const JsonValue json = plan_to_json(sample_plan());
  const auto& operators = *json.find("operators")->as_array();
  REQUIRE(operators.size() == 2);
  CHECK(
      operators[0].dump() ==
      R"({"device":"emulated:0","id":0,"inputs":[],"outputs":[{"diagnostic_alias":"",)"
      R"("late_joiner_history_depth":0,"max_emits_per_compute":1,)"
      R"("name":"frames","payload":{"alignment":0,)"
      R"("fields":[],"kind":"tensor","name":"tensor","size":0,"version":0},)"
      R"("rate":{"follows_input":null,"kind":"fixed_nominal","maximum":null,)"
      R"("rate":{"samples":30,"seconds":1},"ratio":null},"tensor":{"max_byte_span":1000,"max_rank":null,"representation":{"dtype":"uint8",)"
      R"("memory_kind":"cuda_device","rank":3},"storage":"runtime_pool"}}],)"
      R"("parameters":{"contract_hash":")" +
          kNoHash + R"(","fields":[{"choices":[],"hash":")" + kNoHash +
          R"(","lifecycle_stage":"arm","maximum":120,"minimum":1,)"
          R"("mutability":"lifecycle","path":"fps","sensitive":false,"type":"uint32","unit":"Hz",)"
          R"("value":30},{"choices":[],"hash":")" +
          kNoHash +
          R"(","lifecycle_stage":null,)"
          R"("maximum":null,"minimum":null,"mutability":"compile_time","path":"key",)"
          R"("sensitive":true,"type":"string","unit":"","value":null}],"metadata_hash":")" +
          kNoHash + R"(","schema_id":"com.example.Camera","schema_version":3,"structural_hash":")" +
          kNoHash +
          R"("},"partition":0,"path":"camera","sources":[],"stream":0,)"
          R"("trigger":{"bounded_state_capacity":0,"clock":0,"complete_after_computes":null,)"
          R"("inputs":[],"kind":"clock","max_pending_windows":null,"max_start_delay_ns":null,)"
          R"("max_wait_ns":null,"on_violation":null,"origin":"authored","period_ns":33333333,)"
          R"("phase_ns":0,"phase_origin":"captured_at_start","presence_guaranteed_inputs":[],)"
          R"("reference_clock":null,"source":null,"window_ns":null},"type_id":"Camera",)"
          R"("type_version":2})");
  CHECK(operators[1].find("trigger")->dump() ==
        R"({"bounded_state_capacity":0,"clock":null,"complete_after_computes":null,)"
        R"("inputs":[0],"kind":"any_input","max_pending_windows":null,)"
        R"("max_start_delay_ns":null,"max_wait_ns":null,"on_violation":null,)"
        R"("origin":"core_synthesized","period_ns":null,"phase_ns":null,"phase_origin":null,)"
        R"("presence_guaranteed_inputs":[],"reference_clock":null,"source":null,)"
        R"("window_ns":null})");
  CHECK(operators[1].find("parameters")->is_null());
}

TEST_CASE("what a port states of its rate is written, and null where it states nothing") {
  PlanRecords plan = sample_plan();
  OutputRateRecord& stated = plan.operators[0].outputs[0].rate;
  const auto written = [&] {
    const JsonValue json = plan_to_json(plan);
    const JsonValue& camera = json.find("operators")->as_array()->front();
    return camera.find("outputs")->as_array()->front().find("rate")->dump();
  };
  stated = {
      .kind = PortRateKind::kLifecycleNominal, .rate = Rate::hz(60), .maximum = Rate::hz(120)};
  CHECK(written() ==
        R"({"follows_input":null,"kind":"lifecycle_nominal",)"
        R"("maximum":{"samples":120,"seconds":1},"rate":{"samples":60,"seconds":1},"ratio":null})");
  stated = {.kind = PortRateKind::kFollowsInput, .follows_input = 2, .ratio = {1, 4}};
  CHECK(written() == R"({"follows_input":2,"kind":"follows_input","maximum":null,"rate":null,)"
                     R"("ratio":{"denominator":4,"numerator":1}})");
  stated = {};
  CHECK(written() == "null");

  InputPortRecord& input = plan.operators[1].inputs[0];
  input.expected_rate = Rate::hz(30);
  input.accumulates_over = Horizon::seconds(1, 15);
  input.retained_samples = 4;
  const JsonValue json = plan_to_json(plan);
  const JsonValue& in =
      json.find("operators")->as_array()->at(1).find("inputs")->as_array()->front();
  CHECK(in.find("expected_rate")->dump() == R"({"samples":30,"seconds":1})");
  CHECK(in.find("accumulates_over")->dump() == R"({"denominator":15,"numerator":1})");
  CHECK(in.find("retained_samples")->dump() == "4");
}

TEST_CASE("rates, horizons and recipes are written as exact fractions") {
  PlanRecords plan = sample_plan();
  CHECK(dump(plan, "port_rates") ==
        R"([{"basis":"declared","factor":"1","kind":"fixed_nominal","maximum":"30","nominal":"30",)"
        R"("port":{"port":0,"vertex":0},"role":"output","root":{"port":0,"vertex":0}},)"
        R"({"basis":"upstream","factor":"1","kind":"unspecified","maximum":"30","nominal":"30",)"
        R"("port":{"port":0,"vertex":1},"role":"input","root":{"port":0,"vertex":0}},)"
        R"({"basis":"undeclared","factor":null,"kind":"unspecified","maximum":null,"nominal":null,)"
        R"("port":{"port":0,"vertex":1},"role":"output","root":null}])");
  CHECK(dump(plan, "accumulation_horizons") == R"([{"basis":"none","edge":0,"seconds":null}])");
  CHECK(dump(plan, "hard_floor_contributors") ==
        R"([{"edge":0,"entries":1,"group":0,"reason":"minimum_queue","scenario":0}])");
  CHECK(dump(plan, "queue_sizing_recipes") ==
        R"([{"admitted_ceiling":null,"admitted_depth":4,"edge":0,"evidence":"horizon_absent",)"
        R"("hard_floor":1,"headroom":"3/2","horizon":null,"maximum_rate":"30",)"
        R"("nominal_arrivals":null,"rate":"30","rate_basis":"upstream","recommendation":null}])");
  CHECK(
      dump(plan, "pool_capacity_dependencies") ==
      R"([{"active_shared_slots":5,"admitted_shared_slots":5,"edge":0,"endpoint_name":null,"own_slots":2,"pool":0,)"
      R"("source":{"port":0,"vertex":0}}])");
  CHECK(dump(plan, "provider_allocation_plans") ==
        R"([{"active_bytes":6000,"active_entries":6,"admitted_bytes":8000,"admitted_entries":8,)"
        R"("entry_bytes":1000,"pool":0,"producer_entries":1,"reserved_bytes":null}])");
}

TEST_CASE("the endpoint catalog is written in its own canonical form") {
  const PlanRecords plan = sample_plan();
  const JsonValue json = plan_to_json(plan);
  CHECK(*json.find("endpoint_catalog") == parse_json(plan.endpoint_catalog.json()).value());
  CHECK(plan_to_json(PlanRecords{}).find("endpoint_catalog")->is_null());
}

TEST_CASE("what is not known is null, never a number") {
  PlanRecords plan = sample_plan();
  plan.tensor_allocations[0].slot_count = 0;
  plan.operators[0].stream = {};
  plan.operators[0].device.reset();
  const JsonValue json = plan_to_json(plan);
  const JsonValue& pool = json.find("tensor_allocations")->as_array()->front();
  CHECK(pool.find("slot_count")->is_null());
  CHECK(pool.find("total_bytes")->is_null());
  const JsonValue& camera = json.find("operators")->as_array()->front();
  CHECK(camera.find("stream")->is_null());
  CHECK(camera.find("device")->is_null());
}

TEST_CASE("equal records give equal bytes, and the digest is that of the bytes") {
  const std::string text = plan_json(sample_plan());
  CHECK(text == plan_json(sample_plan()));
  CHECK(plan_digest(sample_plan()) == digest_text(sha256(text)));
  CHECK(text.starts_with("{\n  \"accepted\": true,\n"));
  CHECK(text.ends_with("\n  \"version\": 2\n}\n"));
  CHECK(text.find("\n  \"clocks\": [\n    {\"external_driver_admitted\":false,\"id\":0,") !=
        std::string::npos);
}

TEST_CASE("a change in any record changes the digest") {
  const std::string digest = plan_digest(sample_plan());
  std::vector<PlanRecords> changed(26, sample_plan());
  changed[0].graph_name = "other";
  changed[1].clocks[0].independent_progress = false;
  changed[2].operators[1].type_version = 9;
  changed[3].operators[0].outputs[0].tensor->representation.dtype = DLDataType{kDLInt, 8, 1};
  changed[4].payload_edges[0].queue_policy = QueuePolicy::kDropOldest;
  changed[5].export_edges.clear();
  changed[6].execution_partitions[0].origin = ExecutionPartitionOrigin::kAuthored;
  changed[7].partition_decisions[0].reason = "because";
  changed[8].cuda_compute_streams[0].device.ordinal = 1;
  changed[9].tensor_allocations[0].max_release_streams = 5;
  changed[10].endpoint_catalog = {};
  changed[11].device_catalog.devices[0].uuid[15] = 1;
  changed[12].diagnostics.clear();
  changed[13].operators[0].parameters->fields[0].value = 31;
  changed[14].port_rates[0].maximum.reset();
  changed[15].accumulation_horizons[0].basis = AccumulationHorizonBasis::kPartnerUnknown;
  changed[16].hard_floor_contributors[0].reason = HardFloorReason::kWindowRetention;
  changed[17].queue_sizing_recipes[0].nominal_arrivals = 0;
  changed[18].pool_capacity_dependencies[0].own_slots = 3;
  changed[19].provider_allocation_plans[0].active_entries = 7;
  changed[20].operators[1].inputs[0].retained_samples = 1;
  changed[21].operators[0].outputs[0].rate.kind = PortRateKind::kLifecycleNominal;
  changed[22].cuda_compute_stream_policy = CudaComputeStreamPolicy::kSharedProcessDevice;
  changed[23].fusion_decisions[0].fused = false;
  changed[24].tensor_allocations[0].fused_stream = {};
  changed[25].operators[0].parameters->contract_hash[31] = 1;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    INFO("change " << i);
    CHECK(plan_digest(changed[i]) != digest);
  }
}

TEST_CASE("names of any bytes give valid JSON") {
  PlanRecords plan = sample_plan();
  plan.graph_name = "\"\\\n\x01\xff";
  plan.operators[0].parameters->fields[0].value =
      JsonValue::Object{{"k\xfe", JsonValue::Array{JsonValue("v\xfd"), JsonValue(1)}}};
  const auto parsed = parse_json(plan_json(plan));
  REQUIRE(parsed);
  CHECK(*parsed->find("graph_name")->as_string() == "\"\\\n\x01\\xff");
  const JsonValue& parameters = *parsed->find("operators")->as_array()->front().find("parameters");
  CHECK(parameters.find("fields")->as_array()->front().find("value")->dump() ==
        R"({"k\\xfe":["v\\xfd",1]})");
}

TEST_CASE("a sensitive value is in no form of a plan, whatever its record holds") {
  PlanRecords plan = sample_plan();
  CHECK(plan_json(plan).find("hunter2") == std::string::npos);
  CHECK(render_plan(plan).find("hunter2") == std::string::npos);
  const std::string digest = plan_digest(plan);
  plan.operators[0].parameters->fields[1].value = "hunter3";
  CHECK(plan_digest(plan) == digest);
}

TEST_CASE("a plan with an error is not accepted") {
  PlanRecords plan = sample_plan();
  CHECK(plan.ok());
  plan.diagnostics[0].severity = DiagnosticSeverity::kError;
  CHECK_FALSE(plan.ok());
  CHECK(dump(plan, "accepted") == "false");
}

TEST_CASE("ports have names even in a plan that lacks them") {
  const PlanRecords plan = sample_plan();
  CHECK(plan.output_name({VertexId{0}, 0}) == "camera.frames");
  CHECK(plan.input_name({VertexId{1}, 0}) == "gray.in");
  CHECK(plan.input_name({VertexId{1}, 7}) == "gray.?");
  CHECK(plan.output_name({}) == "?");
}

}  // namespace
}  // namespace weftline
