// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/graph/embedding.hpp"
#include "weftline/graph/handles.hpp"

namespace weftline {

// Named sets of operators. Members are operators of the same graph, or graphs embedded in it, which
// are added whole; anything else is GRAPH_HANDLE_FOREIGN. Inside an embedded graph the name becomes
// "graph/name".

/// A named lane; operators that no partition names are placed by the compiler.
class PartitionHandle {
 public:
  PartitionHandle(std::weak_ptr<GraphState> graph, std::uint32_t index) noexcept
      : graph_(std::move(graph)), index_(index) {}
  /// Throws GRAPH_PARTITION_CONFLICT when the operator is in another partition already.
  PartitionHandle& add(const OperatorRef& member);
  /// All its operators. Throws GRAPH_PARTITION_CONFLICT when it is in another partition already, or
  /// has partitions of its own.
  PartitionHandle& add(const EmbeddedGraphRef& member);
  /// The one lane of all operators, embedded ones included. Of the outermost graph only
  /// (GRAPH_NOT_OUTERMOST), of one partition only (GRAPH_PARTITION_CONFLICT). That no operator is
  /// in another partition is checked by compile().
  PartitionHandle& include_all();

 private:
  std::weak_ptr<GraphState> graph_;
  std::uint32_t index_;
};

/// A scope for constraints and a profile. Unlike partitions, regions may overlap, and place
/// nothing: a constraint is checked by compile(), never made to hold.
class RegionHandle {
 public:
  RegionHandle(std::weak_ptr<GraphState> graph, std::uint32_t index) noexcept
      : graph_(std::move(graph)), index_(index) {}
  /// Added twice counts once.
  RegionHandle& add(const OperatorRef& member);
  RegionHandle& add(const EmbeddedGraphRef& member);
  /// Throws REGION_CONSTRAINT_INVALID for a value outside the enum.
  RegionHandle& constrain(RegionConstraint constraint);
  /// What flows into its operators needs the evidence that this profile asks for, or that of the
  /// whole plan where that is stricter. Throws REGION_PROFILE_INVALID for a value outside the enum,
  /// REGION_PROFILE_CONFLICT for a second, different one.
  RegionHandle& profile(Profile profile);

 private:
  std::weak_ptr<GraphState> graph_;
  std::uint32_t index_;
};

}  // namespace weftline
