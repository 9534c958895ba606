// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/tensor_contract.hpp"
#include "weftline/plan/authoring_records.hpp"
#include "weftline/plan/lifecycle_records.hpp"
#include "weftline/plan/port_ref.hpp"

namespace weftline {

// Parts of GraphSnapshot: what a graph says beside operators and flows. Vertices, partitions and
// graph instances are named by their index in the snapshot.

/// The graph's own word on one port. What setup() says stays in VertexSnapshot: two layers, joined
/// by the compiler.
struct PortOverrideSnapshot {
  PortRef port{};
  bool is_output{false};
  std::optional<std::uint32_t> queue_depth{};                ///< Inputs.
  std::optional<std::uint32_t> max_emits_per_compute{};      ///< Outputs.
  std::optional<std::uint32_t> late_joiner_history_depth{};  ///< Outputs.
  std::optional<TensorInputSpec> expects_tensor{};
  std::optional<TensorOutputSpec> produces_tensor{};
  std::optional<std::string> diagnostic_alias{};
};

struct ExportedPortSnapshot {
  std::string name{};
  std::vector<PortRef> ports{};
  /// Whether the surrounding graph leads anything to it or from it.
  bool connected{false};
};

struct GraphInstanceSnapshot {
  std::string path{};
  std::optional<std::uint32_t> parent{};  ///< Absent: the outermost graph.
  std::string type_id{};
  std::uint32_t type_version{0};
  std::vector<VertexId> members{};
  std::vector<ExportedPortSnapshot> inputs{};
  std::vector<ExportedPortSnapshot> outputs{};
};

struct RegionSnapshot {
  std::string name{};
  std::vector<VertexId> members{};      ///< Those added one by one; repeats allowed.
  std::vector<std::uint32_t> graphs{};  ///< Those added whole; repeats allowed.
  std::vector<RegionConstraint> constraints{};
  std::optional<Profile> profile{};
};

struct RestartGrantSnapshot {
  std::optional<VertexId> requester{};  ///< Absent: somebody outside of the graph.
  VertexId target{};
  LifecycleStage from_stage{LifecycleStage::kStart};
};

}  // namespace weftline
