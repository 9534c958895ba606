// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

// Spellings of enumerators in the plan's JSON; "unknown" for a value outside the enum.

[[nodiscard]] std::string_view severity_name(DiagnosticSeverity severity) noexcept;
[[nodiscard]] std::string_view trigger_kind_name(TemporalRecordTriggerKind kind) noexcept;
[[nodiscard]] std::string_view trigger_origin_name(TemporalRecordOrigin origin) noexcept;
[[nodiscard]] std::string_view phase_origin_name(ClockPhaseOrigin origin) noexcept;
[[nodiscard]] std::string_view violation_name(OnViolation violation) noexcept;
[[nodiscard]] std::string_view source_kind_name(ReadinessSourceKind kind) noexcept;
[[nodiscard]] std::string_view wake_requirement_name(ReadinessWakeRequirement wake) noexcept;
[[nodiscard]] std::string_view selector_name(InputSelectorKind selector) noexcept;
[[nodiscard]] std::string_view missing_data_name(MissingDataKind missing) noexcept;
[[nodiscard]] std::string_view cardinality_name(SelectionCardinality cardinality) noexcept;
[[nodiscard]] std::string_view queue_policy_name(QueuePolicy policy) noexcept;
[[nodiscard]] std::string_view depth_origin_name(QueueDepthOrigin origin) noexcept;
[[nodiscard]] std::string_view partition_origin_name(ExecutionPartitionOrigin origin) noexcept;
[[nodiscard]] std::string_view partition_decision_name(PartitionDecisionKind kind) noexcept;
[[nodiscard]] std::string_view partition_reason_name(PartitionDecisionReason reason) noexcept;
[[nodiscard]] std::string_view partitioning_mode_name(PartitioningMode mode) noexcept;
[[nodiscard]] std::string_view port_fact_name(PortFact fact) noexcept;
[[nodiscard]] std::string_view port_layer_name(PortConfigurationLayer layer) noexcept;
[[nodiscard]] std::string_view restart_disposition_name(LifecycleRestartDisposition value) noexcept;
[[nodiscard]] std::string_view stage_widening_name(LifecycleStageWidening widening) noexcept;
[[nodiscard]] std::string_view stream_policy_name(CudaComputeStreamPolicy policy) noexcept;
[[nodiscard]] std::string_view claim_reason_name(TensorSlotClaimReason reason) noexcept;
[[nodiscard]] std::string_view rate_kind_name(PortRateKind kind) noexcept;
[[nodiscard]] std::string_view rate_basis_name(PortRateBasis basis) noexcept;
[[nodiscard]] std::string_view horizon_basis_name(AccumulationHorizonBasis basis) noexcept;
[[nodiscard]] std::string_view hard_floor_reason_name(HardFloorReason reason) noexcept;
[[nodiscard]] std::string_view sizing_evidence_name(QueueSizingEvidence evidence) noexcept;
[[nodiscard]] std::string_view storage_name(TensorOutputStorage storage) noexcept;
[[nodiscard]] std::string_view byte_span_operation_name(TensorByteSpanOperation operation) noexcept;
[[nodiscard]] std::string_view derivation_update_name(
    TensorByteSpanDerivationUpdateDisposition update) noexcept;
[[nodiscard]] std::string_view memory_kind_form_name(TensorMemoryKindExpressionForm form) noexcept;

}  // namespace weftline
