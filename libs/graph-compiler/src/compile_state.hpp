// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/compile/compile_options.hpp"
#include "weftline/graph/graph_snapshot.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// What the passes read and build. Each pass leaves records that the next ones can walk even when
/// it reported errors: a fact that could not be found is absent, never out of range.
struct CompileState {
  CompileState(GraphSnapshot snapshot, const CompileOptions& compile_options)
      : graph(std::move(snapshot)), options(compile_options) {}

  GraphSnapshot graph;
  const CompileOptions& options;
  PlanRecords plan{};

  /// By vertex: its edges, as indices into `plan.payload_edges`, in that order.
  std::vector<std::vector<std::uint32_t>> incoming{};
  std::vector<std::vector<std::uint32_t>> outgoing{};
  /// Producers before consumers, ties by path; vertices on or behind a loop come last, by path.
  std::vector<VertexId> topological_order{};
  /// Inputs behind an exported input that nothing is led to; reported there.
  std::set<PortRef> behind_open_export{};

  [[nodiscard]] OperatorPlanRecord& op(VertexId vertex) { return plan.operators[vertex.value]; }
  [[nodiscard]] const OutputPortRecord& output(PortRef port) const {
    return plan.operators[port.vertex.value].outputs[port.port];
  }
  [[nodiscard]] const InputPortRecord& input(PortRef port) const {
    return plan.operators[port.vertex.value].inputs[port.port];
  }
  /// "source.frames -> detect.frames"
  [[nodiscard]] std::string edge_name(const PayloadEdgePlanRecord& edge) const;
  /// The pool of an output; null when it has none (yet).
  [[nodiscard]] TensorAllocationPlanRecord* pool_of(PortRef port);

  /// Adds a diagnostic. Texts keep 4,096 bytes at most: names of any length may be in them.
  void error(std::string_view token, std::string place, std::string message, std::string fix);
  void warning(std::string_view token, std::string place, std::string message, std::string fix);

 private:
  void report(DiagnosticSeverity severity, std::string_view token, std::string place,
              std::string message, std::string fix);
};

[[nodiscard]] inline bool is_tensor(const OutputPortRecord& output) noexcept {
  return output.payload.kind == PayloadIdentityKind::kTensor;
}

[[nodiscard]] inline bool is_pooled(const OutputPortRecord& output) noexcept {
  return output.tensor && output.tensor->storage == TensorOutputStorage::kRuntimePool;
}

/// A tensor output whose tensors come from elsewhere.
[[nodiscard]] inline bool is_pass_through(const OutputPortRecord& output) noexcept {
  return is_tensor(output) && !is_pooled(output);
}

}  // namespace weftline
