// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "operator_probe.hpp"
#include "trace_ring.hpp"
#include "weftline/plan/plan_records.hpp"
#include "weftline/runtime/observe_options.hpp"
#include "weftline/runtime/run_counters.hpp"
#include "weftline/runtime/run_trace.hpp"

namespace weftline::runtime {

/// What one run keeps beside its counters. Made before the operators and outliving the lanes; any
/// thread may read.
class RunObservation {
 public:
  /// Something is asked for.
  RunObservation(const PlanRecords& plan, const ObserveOptions& options);

  [[nodiscard]] OperatorProbe& probe(VertexId vertex) noexcept { return *probes_[vertex.value]; }
  /// Null unless the run is traced.
  [[nodiscard]] TraceRing* trace_of(PartitionId lane) noexcept {
    return traces_.empty() ? nullptr : traces_[lane.value].get();
  }
  /// What the controller does; null unless the run is traced.
  [[nodiscard]] TraceRing* trace_of_controller() noexcept { return controller_trace_.get(); }
  /// Whether samples carry a FlowStamp.
  [[nodiscard]] bool stamps_samples() const noexcept { return stamps_samples_; }

  /// Adds latencies to counters of the same plan that have all their operators and edges.
  void read(RunCounters& counters) const;
  [[nodiscard]] RunTrace trace() const;

 private:
  const PlanRecords& plan_;
  const bool stamps_samples_;
  std::vector<std::unique_ptr<TraceRing>> traces_{};
  std::unique_ptr<TraceRing> controller_trace_{};
  std::vector<std::unique_ptr<OperatorProbe>> probes_{};
};

}  // namespace weftline::runtime
