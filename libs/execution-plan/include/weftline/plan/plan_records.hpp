// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/catalog/endpoint_catalog.hpp"
#include "weftline/core/device_catalog.hpp"
#include "weftline/core/ids.hpp"
#include "weftline/core/payload.hpp"
#include "weftline/core/rate.hpp"
#include "weftline/core/tensor_contract.hpp"
#include "weftline/plan/authoring_records.hpp"
#include "weftline/plan/boundary_records.hpp"
#include "weftline/plan/derivation_records.hpp"
#include "weftline/plan/diagnostic.hpp"
#include "weftline/plan/lifecycle_records.hpp"
#include "weftline/plan/param_records.hpp"
#include "weftline/plan/placement_records.hpp"
#include "weftline/plan/port_ref.hpp"
#include "weftline/plan/profile.hpp"
#include "weftline/plan/sizing_records.hpp"
#include "weftline/plan/temporal_records.hpp"

namespace weftline {

// A plan as pure data. Ids are dense indices into the vectors of `PlanRecords`, in canonical order.
// Nothing here refers to code, devices or memory addresses.

struct ClockPlanRecord {
  ClockId id{};
  std::string name{};
  bool is_default{false};
  bool steady{true};
  bool independent_progress{true};
  /// Somebody outside moves its time on, and wakes the lanes that wait for it.
  bool external_driver_admitted{false};
};

struct InputPortRecord {
  std::string name{};
  PayloadIdentity payload{};
  std::optional<TensorInputSpec> tensor{};
  std::optional<Rate> expected_rate{};
  /// The contract's promise: samples are taken before they have piled up for longer.
  std::optional<Horizon> accumulates_over{};
  /// Received samples that the operator keeps after compute() has returned.
  std::uint32_t retained_samples{0};
  std::string diagnostic_alias{};  ///< Shown beside the name in messages; may be empty.
};

struct OutputPortRecord {
  std::string name{};
  PayloadIdentity payload{};
  std::optional<TensorOutputSpec> tensor{};
  OutputRateRecord rate{};
  std::uint32_t max_emits_per_compute{1};
  /// Emitted samples that are kept for peers that come later.
  std::uint32_t late_joiner_history_depth{0};
  std::string diagnostic_alias{};  ///< Shown beside the name in messages; may be empty.
};

struct OperatorPlanRecord {
  VertexId id{};
  std::string path{};
  std::string type_id{};
  std::uint32_t type_version{0};
  std::optional<ParamSetPlanRecord> parameters{};  ///< Absent without parameters.
  std::vector<InputPortRecord> inputs{};
  std::vector<OutputPortRecord> outputs{};
  TemporalTriggerPlanRecord trigger{};
  std::vector<SourcePlanRecord> sources{};
  PartitionId partition{};
  std::optional<DeviceId> device{};
  StreamPlanId stream{};  ///< Invalid: no stream, the operator is host-only.
};

enum class QueuePolicy : std::uint8_t { kBlocking = 0, kDropOldest };
enum class QueueDepthOrigin : std::uint8_t { kExplicit = 0, kAutomatic, kDefault };

/// A flow inside this process.
struct PayloadEdgePlanRecord {
  EdgeId edge{};
  PortRef source{};
  PortRef target{};
  QueuePolicy queue_policy{QueuePolicy::kBlocking};
  std::uint32_t queue_depth{0};
  QueueDepthOrigin depth_origin{QueueDepthOrigin::kDefault};
  bool crosses_partitions{false};
  std::string topic_name{};  ///< The flow's logical name; may be empty.
};

/// A flow out of this process, into one endpoint of the catalog.
struct ExportEdgePlanRecord {
  EndpointId endpoint{};  ///< Index into `endpoint_catalog.endpoints()`.
  std::string endpoint_name{};
  PortRef source{};
};

enum class ExecutionPartitionOrigin : std::uint8_t { kAuthored = 0, kAutomatic };

/// One serial lane.
struct ExecutionPartitionRecord {
  PartitionId id{};
  ExecutionPartitionOrigin origin{ExecutionPartitionOrigin::kAutomatic};
  std::string name{};
  std::vector<VertexId> members{};  ///< In a topological order.
};

enum class PartitionDecisionKind : std::uint8_t {
  kStart = 0,
  kJoin,
  kBoundarySplit,
  kFanInSplit,
  kFanOutLegSplit,
  kCollapseRejected,
  kAuthored,
  kSerializationDomain,
};

/// Why a vertex is where it is.
struct PartitionDecisionRecord {
  VertexId vertex{};
  PartitionDecisionKind kind{PartitionDecisionKind::kStart};
  std::string reason{};
  PartitionDecisionReason reason_code{PartitionDecisionReason::kIndependentReadinessRoot};
};

/// Who shares a compute stream.
enum class CudaComputeStreamPolicy : std::uint8_t {
  kPartitionDevice = 0,  ///< The operators of one partition on one device.
  kSharedProcessDevice,  ///< All operators of this process on one device.
};

struct CudaComputeStreamPlanRecord {
  StreamPlanId id{};
  PartitionId partition{};  ///< Invalid where all partitions share the stream.
  DeviceId device{};
  GreenContextPlanId green_context{};  ///< Whose SMs it has; invalid: any of the device.
};

/// Whether the fences of one edge of device tensors are left out (see
/// TensorAllocationPlanRecord::fused_stream), and the reason why or why not.
struct FusionDecisionRecord {
  EdgeId edge{};
  bool fused{false};
  std::string reason{};
};

/// Why slots of a pool may be out at one time; order and spelling of the public vocabulary.
enum class TensorSlotClaimReason : std::uint8_t {
  kProducerLoan = 0,
  kProducerWriter,
  kProducerReadiness,
  kAcceptedPublication,
  kTransportFanOut,
  kSubscriberBorrow,
  kConsumerCudaRelease,
  kRelay,
  kTemporalCache,
  kWindow,
  kReuseLast,
  kDrainAll,
  kFrameworkBorrow,
  kCopy,
  kCancellation,
  kQuarantine,
  kRetirementService,
};

/// How many slots of a pool one holder can have at most. Consumers behind one output hold the same
/// samples, so the sum over all contributors is an upper bound of the slot count.
struct PoolCapacityContributorRecord {
  std::string contributor{};                ///< "producer", or the consumer's "path.port"
  std::uint32_t maximum_distinct_slots{0};  ///< At the largest rates that the plan admits.
  std::vector<TensorSlotClaimReason> reasons{};
};

struct TensorAllocationPlanRecord {
  PoolId id{};
  PortRef output{};
  MemoryKind memory_kind{MemoryKind::kUnknown};
  /// Where device memory lives, or for which device pinned memory is made; absent for plain host
  /// memory.
  std::optional<DeviceId> device{};
  std::uint64_t slot_bytes{0};
  std::uint32_t slot_count{0};         ///< Enough for the largest rates that the plan admits.
  std::uint32_t active_slot_count{0};  ///< Enough for the rates that apply at start.
  std::uint32_t max_rank{0};
  std::uint32_t max_release_streams{0};
  /// Where all that writes and reads the slots is proven to be: no fence is needed between them.
  /// Invalid: no such proof.
  StreamPlanId fused_stream{};
  std::vector<PoolCapacityContributorRecord> contributors{};

  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return slot_bytes * slot_count; }
};

struct PlanRecords {
  std::string graph_name{};
  std::vector<ClockPlanRecord> clocks{};
  std::vector<OperatorPlanRecord> operators{};
  std::vector<PayloadEdgePlanRecord> payload_edges{};
  std::vector<EdgeSelectionRecord> edge_selections{};
  std::vector<ExportEdgePlanRecord> export_edges{};
  std::vector<ExternalTopicRecord> external_topics{};
  std::vector<ImportEdgePlanRecord> import_edges{};
  std::vector<TensorOutputPlacementRecord> tensor_output_placements{};
  std::vector<GreenContextPoolPlanRecord> green_context_pools{};
  std::vector<GreenContextResourcePlanRecord> green_context_resources{};
  std::vector<PartitionPlacementPlanRecord> partition_placements{};
  std::vector<SupportThreadPlacementPlanRecord> support_thread_placements{};
  ProfileManifest profile_manifest{};
  std::vector<ExecutionPartitionRecord> execution_partitions{};
  std::vector<PartitionDecisionRecord> partition_decisions{};
  PartitioningPlanRecord partitioning{};
  std::vector<ScheduleEdgeRecord> schedule_edges{};  ///< By edge.
  std::vector<GraphInstancePlanRecord> graph_instances{};
  std::vector<RegionRecord> regions{};
  std::vector<PortConfigurationRecord> port_configurations{};  ///< By port, inputs first, and fact.
  LifecyclePlanRecord lifecycle{};
  CudaComputeStreamPolicy cuda_compute_stream_policy{};
  std::vector<CudaComputeStreamPlanRecord> cuda_compute_streams{};
  std::vector<FusionDecisionRecord> fusion_decisions{};
  std::vector<TensorAllocationPlanRecord> tensor_allocations{};
  std::vector<TensorByteSpanDerivationPlanRecord> tensor_byte_span_derivations{};
  std::vector<TensorMemoryKindDerivationPlanRecord> tensor_memory_kind_derivations{};
  std::vector<PortRatePlanRecord> port_rates{};
  std::vector<AccumulationHorizonPlanRecord> accumulation_horizons{};
  std::vector<HardFloorContributorRecord> hard_floor_contributors{};
  std::vector<QueueSizingRecipeRecord> queue_sizing_recipes{};
  std::vector<PoolCapacityDependencyRecord> pool_capacity_dependencies{};
  std::vector<ProviderAllocationPlanRecord> provider_allocation_plans{};
  ChannelEndpointCatalog endpoint_catalog{};
  DeviceCatalog device_catalog{};
  std::vector<Diagnostic> diagnostics{};

  /// True when no diagnostic is an error.
  [[nodiscard]] bool ok() const noexcept;
  /// "path.port" of an output or input, for messages.
  [[nodiscard]] std::string output_name(PortRef output) const;
  [[nodiscard]] std::string input_name(PortRef input) const;
  /// Null in a plan without that port.
  [[nodiscard]] const PortRatePlanRecord* output_rate(PortRef output) const noexcept;
  [[nodiscard]] const PortRatePlanRecord* input_rate(PortRef input) const noexcept;
};

}  // namespace weftline
