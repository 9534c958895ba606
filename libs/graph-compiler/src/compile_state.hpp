// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weftline/compile/compile_options.hpp"
#include "weftline/graph/graph_snapshot.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// What is found out about one external topic before its endpoint is made.
struct TopicState {
  std::string name{};  ///< Of the endpoint.
  bool sound{true};    ///< False: an error has been reported that leaves it without an endpoint.
  std::uint32_t generations{1};
  std::optional<DeviceId> device{};  ///< Imports of device or pinned tensors.
};

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
  /// Outputs that topics export, each with the first such topic (an index into `graph.exports`);
  /// sorted.
  std::vector<std::pair<PortRef, std::uint32_t>> exported{};
  /// By input: the imports that feed it, as indices into `graph.imports`.
  std::map<PortRef, std::vector<std::uint32_t>> imports_into{};
  /// By input that an import feeds: what an activation takes from it; without an edge.
  std::map<PortRef, EdgeSelectionRecord> import_selections{};
  std::vector<TopicState> imports{};  ///< As `graph.imports`.
  std::vector<TopicState> exports{};  ///< As `graph.exports`.
  /// By authored partition (as in `graph.partitions`) and device: the SMs that are its own.
  std::map<std::pair<std::uint32_t, DeviceId>, GreenContextPlanId> green_contexts{};
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
  /// The one import that feeds an input; null without one, and when there are more.
  [[nodiscard]] const ImportSnapshot* import_feeding(PortRef input) const;
  /// "source.frames -> detect.frames"
  [[nodiscard]] std::string edge_name(const PayloadEdgePlanRecord& edge) const;
  /// The topic that exports an output; null when none does.
  [[nodiscard]] const ExportSnapshot* topic_of(PortRef output) const;
  /// The edges of one output, in a row.
  [[nodiscard]] std::span<const PayloadEdgePlanRecord> arms_of(PortRef output) const;
  /// The pool of an output; null when it has none (yet).
  [[nodiscard]] TensorAllocationPlanRecord* pool_of(PortRef port);

  /// How an output's slot bytes or memory kind were derived; null when they were not.
  [[nodiscard]] const TensorByteSpanDerivationPlanRecord* span_of(PortRef output) const;
  [[nodiscard]] const TensorMemoryKindDerivationPlanRecord* kind_of(PortRef output) const;
  /// "emulated:0, cuda:0", or "none": what the target offers.
  [[nodiscard]] std::string offered_devices() const;

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
