// SPDX-License-Identifier: Apache-2.0
#include "plan_names.hpp"

#include <array>

#include "name_of.hpp"

namespace weftline {

std::string_view severity_name(DiagnosticSeverity severity) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"warning", "error"});
  return name_of(severity, kNames);
}

std::string_view trigger_kind_name(TemporalRecordTriggerKind kind) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"any_input", "each", "clock", "readable", "notified",
                                       "doorbell", "spin", "aligned", "window", "predicate"});
  return name_of(kind, kNames);
}

std::string_view trigger_origin_name(TemporalRecordOrigin origin) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"authored", "core_synthesized"});
  return name_of(origin, kNames);
}

std::string_view phase_origin_name(ClockPhaseOrigin origin) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"captured_at_start", "explicit_absolute"});
  return name_of(origin, kNames);
}

std::string_view violation_name(OnViolation violation) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"report", "degrade", "fail_run"});
  return name_of(violation, kNames);
}

std::string_view source_kind_name(ReadinessSourceKind kind) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"notification", "readable", "doorbell", "spin"});
  return name_of(kind, kNames);
}

std::string_view wake_requirement_name(ReadinessWakeRequirement wake) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"deployment_selected", "busy_poll_required"});
  return name_of(wake, kNames);
}

std::string_view selector_name(InputSelectorKind selector) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"exact", "latest_within", "drain_all", "bracketed_window"});
  return name_of(selector, kNames);
}

std::string_view missing_data_name(MissingDataKind missing) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"skip", "reuse_last", "safe_default", "absent", "fail"});
  return name_of(missing, kNames);
}

std::string_view cardinality_name(SelectionCardinality cardinality) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"one", "batch"});
  return name_of(cardinality, kNames);
}

std::string_view queue_policy_name(QueuePolicy policy) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"blocking", "drop_oldest"});
  return name_of(policy, kNames);
}

std::string_view stream_policy_name(CudaComputeStreamPolicy policy) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"partition_device", "shared_process_device"});
  return name_of(policy, kNames);
}

std::string_view depth_origin_name(QueueDepthOrigin origin) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"explicit", "automatic", "default"});
  return name_of(origin, kNames);
}

std::string_view partition_origin_name(ExecutionPartitionOrigin origin) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"authored", "automatic"});
  return name_of(origin, kNames);
}

std::string_view partition_decision_name(PartitionDecisionKind kind) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"start", "join", "boundary_split", "fan_in_split", "fan_out_leg_split", "collapse_rejected",
       "authored", "serialization_domain"});
  return name_of(kind, kNames);
}

std::string_view partition_reason_name(PartitionDecisionReason reason) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"process_boundary", "external_endpoint_boundary", "device_transfer_incompatibility",
       "region_backend_admission", "explicit_thread_placement", "lifecycle_isolation",
       "readiness_isolation", "independent_readiness_root", "linear_chain", "fan_out_leg", "fan_in",
       "authored_partition", "authored_neighbour", "flow_loop", "whole_root"});
  return name_of(reason, kNames);
}

std::string_view partitioning_mode_name(PartitioningMode mode) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"automatic", "hybrid", "exact", "include_all"});
  return name_of(mode, kNames);
}

std::string_view region_constraint_name(RegionConstraint constraint) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"host_only", "single_device", "single_partition", "lossless"});
  return name_of(constraint, kNames);
}

std::string_view port_fact_name(PortFact fact) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"queue_depth", "max_emits_per_compute", "late_joiner_history_depth", "tensor_memory_kind",
       "tensor_dtype", "tensor_rank", "tensor_max_rank", "tensor_max_byte_span", "tensor_storage",
       "diagnostic_alias"});
  return name_of(fact, kNames);
}

std::string_view port_layer_name(PortConfigurationLayer layer) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"setup", "graph"});
  return name_of(layer, kNames);
}

std::string_view restart_disposition_name(LifecycleRestartDisposition value) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"disabled", "not_requested", "admitted", "rejected"});
  return name_of(value, kNames);
}

std::string_view stage_widening_name(LifecycleStageWidening widening) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"none", "readiness_source"});
  return name_of(widening, kNames);
}

std::string_view claim_reason_name(TensorSlotClaimReason reason) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"producer_loan", "producer_writer", "producer_readiness", "accepted_publication",
       "transport_fan_out", "subscriber_borrow", "consumer_cuda_release", "relay", "temporal_cache",
       "window", "reuse_last", "drain_all", "framework_borrow", "copy", "cancellation",
       "quarantine", "retirement_service"});
  return name_of(reason, kNames);
}

std::string_view rate_kind_name(PortRateKind kind) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"unspecified", "fixed_nominal", "expected_input", "follows_input", "lifecycle_nominal"});
  return name_of(kind, kNames);
}

std::string_view rate_basis_name(PortRateBasis basis) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"undeclared", "declared", "followed", "upstream", "expected", "unresolved"});
  return name_of(basis, kNames);
}

std::string_view horizon_basis_name(AccumulationHorizonBasis basis) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"none", "declared", "aligned_partner", "partner_unknown", "partner_selectable",
       "activation_period", "bracket", "window_wait"});
  return name_of(basis, kNames);
}

std::string_view hard_floor_reason_name(HardFloorReason reason) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"minimum_queue", "producer_burst", "selector_retention", "window_retention"});
  return name_of(reason, kNames);
}

std::string_view sizing_evidence_name(QueueSizingEvidence evidence) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"sufficient", "rate_undeclared", "rate_unresolved",
                                       "rate_without_maximum", "horizon_absent", "size_overflow"});
  return name_of(evidence, kNames);
}

std::string_view lifecycle_stage_name(LifecycleStage stage) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"configure", "discover", "allocate", "warm_up", "arm", "start", "stop", "release"});
  return name_of(stage, kNames);
}

std::string_view param_mutability_name(ParamMutability mutability) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"compile_time", "runtime", "lifecycle", "recompile"});
  return name_of(mutability, kNames);
}

std::string_view byte_span_operation_name(TensorByteSpanOperation operation) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"literal", "parameter_contiguous", "input_maximum", "parameter_projected", "multiply",
       "ceiling_divide", "maximum", "align"});
  return name_of(operation, kNames);
}

std::string_view derivation_update_name(TensorByteSpanDerivationUpdateDisposition update) noexcept {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"frozen_compile_time", "recompile_required"});
  return name_of(update, kNames);
}

std::string_view memory_kind_form_name(TensorMemoryKindExpressionForm form) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"direct", "mapped"});
  return name_of(form, kNames);
}

std::string_view storage_name(TensorOutputStorage storage) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>({"pass_through", "runtime_pool"});
  return name_of(storage, kNames);
}

}  // namespace weftline
