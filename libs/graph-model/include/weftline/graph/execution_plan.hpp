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
  ExecutionPlan(PlanRecords records, std::vector<OperatorFactory> operators,
                std::vector<ClockFactory> clocks);

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
  [[nodiscard]] std::span<const ExecutionPartitionRecord> execution_partitions() const noexcept {
    return records().execution_partitions;
  }
  [[nodiscard]] std::span<const CudaComputeStreamPlanRecord> cuda_compute_streams() const noexcept {
    return records().cuda_compute_streams;
  }
  [[nodiscard]] std::span<const TensorAllocationPlanRecord> tensor_allocations() const noexcept {
    return records().tensor_allocations;
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

  /// Canonical JSON and its digest ("sha256:…"), made once.
  [[nodiscard]] const std::string& json() const noexcept;
  [[nodiscard]] const std::string& digest() const noexcept;

  /// For the runtime: fresh instances.
  [[nodiscard]] const OperatorFactory& operator_factory(VertexId vertex) const;
  [[nodiscard]] const ClockFactory& clock_factory(ClockId clock) const;

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
