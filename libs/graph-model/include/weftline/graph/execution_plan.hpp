// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "weftline/graph/graph_snapshot.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/plan/rate_queue_inspection.hpp"

namespace weftline {

/// Thrown by `require_no_errors()`; what() holds the rendered diagnostics.
class CompileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the compiler returns: records, and the factories of the operators by vertex id. Immutable,
/// cheap to copy, independent of the graph. A rejected plan keeps its records and diagnostics and
/// can't be run. References and spans that it gives out live as long as any copy of it: keep one
/// while you read them.
class ExecutionPlan {
 public:
  /// `params` by vertex id, as the factories know them; a plan without them can't update any.
  ExecutionPlan(PlanRecords records, std::vector<OperatorFactory> operators,
                std::vector<ClockFactory> clocks, std::vector<ParamSet> params = {});

  [[nodiscard]] bool ok() const noexcept;
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const noexcept;
  void require_no_errors() const;

  [[nodiscard]] const PlanRecords& records() const noexcept;
  [[nodiscard]] std::span<const OperatorPlanRecord> operators() const noexcept {
    return records().operators;
  }
  [[nodiscard]] std::span<const PayloadEdgePlanRecord> payload_edges() const noexcept {
    return records().payload_edges;
  }
  [[nodiscard]] std::span<const EdgeSelectionRecord> edge_selections() const noexcept {
    return records().edge_selections;
  }
  [[nodiscard]] std::span<const ExecutionPartitionRecord> execution_partitions() const noexcept {
    return records().execution_partitions;
  }
  [[nodiscard]] std::span<const CudaComputeStreamPlanRecord> cuda_compute_streams() const noexcept {
    return records().cuda_compute_streams;
  }
  [[nodiscard]] std::span<const TensorAllocationPlanRecord> tensor_allocations() const noexcept {
    return records().tensor_allocations;
  }
  /// Why a pool's slots and memory are as they are, where setup() derived them.
  [[nodiscard]] std::span<const TensorByteSpanDerivationPlanRecord> tensor_byte_span_derivations()
      const noexcept {
    return records().tensor_byte_span_derivations;
  }
  [[nodiscard]] std::span<const TensorMemoryKindDerivationPlanRecord>
  tensor_memory_kind_derivations() const noexcept {
    return records().tensor_memory_kind_derivations;
  }
  [[nodiscard]] std::span<const PortRatePlanRecord> port_rates() const noexcept {
    return records().port_rates;
  }
  [[nodiscard]] std::span<const AccumulationHorizonPlanRecord> accumulation_horizons()
      const noexcept {
    return records().accumulation_horizons;
  }
  [[nodiscard]] std::span<const HardFloorContributorRecord> hard_floor_contributors()
      const noexcept {
    return records().hard_floor_contributors;
  }
  [[nodiscard]] std::span<const QueueSizingRecipeRecord> queue_sizing_recipes() const noexcept {
    return records().queue_sizing_recipes;
  }
  [[nodiscard]] std::span<const PoolCapacityDependencyRecord> pool_capacity_dependencies()
      const noexcept {
    return records().pool_capacity_dependencies;
  }
  [[nodiscard]] std::span<const ProviderAllocationPlanRecord> provider_allocation_plans()
      const noexcept {
    return records().provider_allocation_plans;
  }
  [[nodiscard]] std::span<const ExternalTopicRecord> external_topics() const noexcept {
    return records().external_topics;
  }
  [[nodiscard]] std::span<const ImportEdgePlanRecord> import_edges() const noexcept {
    return records().import_edges;
  }
  [[nodiscard]] std::span<const TensorOutputPlacementRecord> tensor_output_placements()
      const noexcept {
    return records().tensor_output_placements;
  }
  [[nodiscard]] std::span<const GreenContextPoolPlanRecord> green_context_pools() const noexcept {
    return records().green_context_pools;
  }
  [[nodiscard]] std::span<const GreenContextResourcePlanRecord> green_context_resources()
      const noexcept {
    return records().green_context_resources;
  }
  [[nodiscard]] std::span<const PartitionPlacementPlanRecord> partition_placements()
      const noexcept {
    return records().partition_placements;
  }
  [[nodiscard]] std::span<const SupportThreadPlacementPlanRecord> support_thread_placements()
      const noexcept {
    return records().support_thread_placements;
  }
  [[nodiscard]] const ProfileManifest& profile_manifest() const noexcept {
    return records().profile_manifest;
  }
  [[nodiscard]] const PartitioningPlanRecord& partitioning() const noexcept {
    return records().partitioning;
  }
  [[nodiscard]] std::span<const ScheduleEdgeRecord> schedule_edges() const noexcept {
    return records().schedule_edges;
  }
  [[nodiscard]] std::span<const GraphInstancePlanRecord> graph_instances() const noexcept {
    return records().graph_instances;
  }
  [[nodiscard]] std::span<const RegionRecord> regions() const noexcept { return records().regions; }
  [[nodiscard]] std::span<const PortConfigurationRecord> port_configurations() const noexcept {
    return records().port_configurations;
  }
  [[nodiscard]] const LifecyclePlanRecord& lifecycle() const noexcept {
    return records().lifecycle;
  }
  [[nodiscard]] const ChannelEndpointCatalog& endpoint_catalog() const noexcept {
    return records().endpoint_catalog;
  }

  /// Canonical JSON, made at the first call (which allocates; from any thread).
  [[nodiscard]] const std::string& json() const;
  /// "sha256:…" over that JSON.
  [[nodiscard]] const std::string& digest() const noexcept;

  /// For the runtime: fresh instances.
  [[nodiscard]] const OperatorFactory& operator_factory(VertexId vertex) const;
  [[nodiscard]] const ClockFactory& clock_factory(ClockId clock) const;
  /// What an operator was compiled with, sensitive values included: in no record, and not part of
  /// the digest. An empty set where the plan was made without.
  [[nodiscard]] const ParamSet& param_set(VertexId vertex) const noexcept;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// The same over the records of a plan.
[[nodiscard]] inline expected<std::string, Error> render_rate_queue_inspection(
    const ExecutionPlan& plan, const RateGenerationSnapshot& snapshot, std::uint64_t generation,
    EdgeId edge, RateQueueInspectionFormat format) {
  return render_rate_queue_inspection(plan.records(), snapshot, generation, edge, format);
}

}  // namespace weftline
