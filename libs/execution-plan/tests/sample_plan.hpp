// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/catalog/endpoint_catalog_builder.hpp"
#include "weftline/core/json.hpp"
#include "weftline/plan/plan_json.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// The plan's text, read back: so each look at it checks that it is JSON, too.
inline JsonValue plan_to_json(const PlanRecords& plan) {
  return parse_json(plan_json(plan)).value();
}

/// camera -> gray on emulated:0, which exports a number.
inline PlanRecords sample_plan() {
  constexpr DeviceId kDevice{DeviceKind::kEmulated, 0};
  const TensorRepresentation image{
      .memory_kind = MemoryKind::kCudaDevice, .dtype = DLDataType{kDLUInt, 8, 1}, .rank = 3};
  const TensorOutputSpec pool{.representation = image,
                              .bounds = tensor_bounds(1'000),
                              .storage = TensorOutputStorage::kRuntimePool};
  PlanRecords plan;
  plan.graph_name = "sample";
  plan.clocks = {{.id = ClockId{0}, .name = "wall", .is_default = true}};
  plan.operators = {
      {.id = VertexId{0},
       .path = "camera",
       .type_id = "Camera",
       .type_version = 2,
       .parameters = ParamSetPlanRecord{.schema_id = "com.example.Camera",
                                        .schema_version = 3,
                                        .fields = {{.path = "fps",
                                                    .type = "uint32",
                                                    .value = 30,
                                                    .unit = "Hz",
                                                    .minimum = 1,
                                                    .maximum = 120,
                                                    .mutability = ParamMutability::kLifecycle,
                                                    .stage = LifecycleStage::kArm},
                                                   {.path = "key",
                                                    .type = "string",
                                                    .value = "hunter2",
                                                    .sensitive = true}}},
       .outputs = {{.name = "frames",
                    .payload = payload_identity<Tensor>(),
                    .tensor = pool,
                    .rate = {.kind = PortRateKind::kFixedNominal, .rate = Rate::hz(30)}}},
       .trigger = {.kind = TemporalRecordTriggerKind::kClock,
                   .clock = ClockId{0},
                   .period_ns = 33'333'333},
       .partition = PartitionId{0},
       .device = kDevice,
       .stream = StreamPlanId{0}},
      {.id = VertexId{1},
       .path = "gray",
       .type_id = "Gray",
       .type_version = 1,
       .inputs = {{.name = "in",
                   .payload = payload_identity<Tensor>(),
                   .tensor = TensorInputSpec{.representation = image}}},
       .outputs = {{.name = "mean", .payload = payload_identity<float>()}},
       .trigger = {.kind = TemporalRecordTriggerKind::kAnyInput,
                   .origin = TemporalRecordOrigin::kCoreSynthesized,
                   .inputs = {0}},
       .partition = PartitionId{0},
       .device = kDevice,
       .stream = StreamPlanId{0}}};
  plan.payload_edges = {{.edge = EdgeId{0},
                         .source = {VertexId{0}, 0},
                         .target = {VertexId{1}, 0},
                         .queue_depth = 4}};
  plan.export_edges = {
      {.endpoint = EndpointId{0}, .endpoint_name = "mean", .source = {VertexId{1}, 0}}};
  plan.execution_partitions = {
      {.id = PartitionId{0}, .name = "auto:camera", .members = {VertexId{0}, VertexId{1}}}};
  plan.partition_decisions = {
      {.vertex = VertexId{0}, .reason = "nothing leads here"},
      {VertexId{1}, PartitionDecisionKind::kJoin, "continues the chain of camera",
       PartitionDecisionReason::kLinearChain}};
  plan.cuda_compute_streams = {
      {.id = StreamPlanId{0}, .partition = PartitionId{0}, .device = kDevice}};
  plan.fusion_decisions = {{EdgeId{0}, true, "one writer, one reader"}};
  plan.tensor_allocations = {
      {.id = PoolId{0},
       .output = {VertexId{0}, 0},
       .memory_kind = MemoryKind::kCudaDevice,
       .device = kDevice,
       .slot_bytes = 1'024,
       .slot_count = 8,
       .active_slot_count = 6,
       .max_rank = 3,
       .max_release_streams = 3,
       .fused_stream = StreamPlanId{0},
       .contributors = {{"producer", 1, {TensorSlotClaimReason::kProducerLoan}},
                        {"gray.in",
                         7,
                         {TensorSlotClaimReason::kAcceptedPublication,
                          TensorSlotClaimReason::kConsumerCudaRelease}}}}};
  const Rational thirty = Rational::make(30, 1).value();
  const PortRef frames{VertexId{0}, 0};
  const PortRef in{VertexId{1}, 0};
  plan.port_rates = {{.port = frames,
                      .is_output = true,
                      .kind = PortRateKind::kFixedNominal,
                      .basis = PortRateBasis::kDeclared,
                      .root = frames,
                      .nominal = thirty,
                      .maximum = thirty},
                     {.port = in,
                      .basis = PortRateBasis::kUpstream,
                      .root = frames,
                      .nominal = thirty,
                      .maximum = thirty},
                     {.port = in, .is_output = true}};
  plan.accumulation_horizons = {{.edge = EdgeId{0}}};
  plan.hard_floor_contributors = {{.edge = EdgeId{0}, .entries = 1}};
  plan.queue_sizing_recipes = {{.edge = EdgeId{0},
                                .evidence = QueueSizingEvidence::kHorizonAbsent,
                                .rate_basis = PortRateBasis::kUpstream,
                                .rate = thirty,
                                .maximum_rate = thirty,
                                .headroom = Rational::make(3, 2).value(),
                                .hard_floor = 1,
                                .admitted_depth = 4}};
  plan.pool_capacity_dependencies = {{.pool = PoolId{0},
                                      .edge = EdgeId{0},
                                      .source = frames,
                                      .active_shared_slots = 5,
                                      .admitted_shared_slots = 5,
                                      .own_slots = 2}};
  plan.provider_allocation_plans = {{.pool = PoolId{0},
                                     .entry_bytes = 1'000,
                                     .producer_entries = 1,
                                     .active_entries = 6,
                                     .admitted_entries = 8}};
  auto builder = ChannelEndpointCatalog::builder("sample");
  if (builder.export_topic<float>("mean", "weftline://mean")) {
    plan.endpoint_catalog = std::move(builder).build().value();
  }
  plan.device_catalog = {.host_cpu_count = 2, .devices = {{.id = kDevice, .name = "laptop"}}};
  plan.diagnostics = {
      {DiagnosticSeverity::kWarning, "PARTITION_EMPTY", "partition x", "it is empty", "drop it"}};
  return plan;
}

}  // namespace weftline
