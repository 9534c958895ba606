// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/core/ids.hpp"
#include "weftline/plan/port_ref.hpp"
#include "weftline/plan/profile.hpp"

namespace weftline {

// What the author's structure leaves in a plan. Operators and edges are flat; these records say
// which graph, region and layer they come from.

/// Of one embedded graph; dense, by path.
using GraphInstanceId = Id<struct GraphInstanceIdTag>;
using RegionId = Id<struct RegionIdTag>;

/// A port of an embedded graph, and the operators' ports that it stands for.
struct ExportedPortRecord {
  std::string name{};
  std::vector<PortRef> ports{};  ///< Inputs: one or more. Outputs: one.
};

/// One embedded graph. The outermost graph has none.
struct GraphInstancePlanRecord {
  GraphInstanceId id{};
  std::string path{};        ///< "fusion", "fusion/left"
  GraphInstanceId parent{};  ///< Invalid: the outermost graph.
  std::string type_id{};
  std::uint32_t type_version{0};
  std::vector<VertexId> members{};  ///< Its own operators, not those of graphs embedded in it.
  std::vector<ExportedPortRecord> inputs{};   ///< By name.
  std::vector<ExportedPortRecord> outputs{};  ///< By name.
};

/// What must hold for all operators of a region.
enum class RegionConstraint : std::uint8_t {
  kHostOnly = 0,     ///< None of them is on a device.
  kSingleDevice,     ///< Those on a device are on the same one.
  kSinglePartition,  ///< They share one lane.
  kLossless,         ///< No queue in front of them drops samples.
};

/// "host_only", …; "unknown" for a value outside the enum.
[[nodiscard]] std::string_view region_constraint_name(RegionConstraint constraint) noexcept;

/// A named set of operators under constraints. Regions may overlap.
struct RegionRecord {
  RegionId id{};
  std::string name{};                           ///< "rt", "fusion/rt"
  std::vector<VertexId> members{};              ///< All of them, those of `graphs` included.
  std::vector<GraphInstanceId> graphs{};        ///< Added whole.
  std::vector<RegionConstraint> constraints{};  ///< Each once, in the order of the enum.
  std::optional<Profile> profile{};  ///< Counts where it is stricter than that of the plan.
};

/// A fact of a port that setup() states, or the graph by a configurator.
enum class PortFact : std::uint8_t {
  kQueueDepth = 0,
  kMaxEmitsPerCompute,
  kLateJoinerHistoryDepth,
  kTensorMemoryKind,
  kTensorDtype,
  kTensorRank,
  kTensorMaxRank,
  kTensorMaxByteSpan,
  kTensorStorage,
  kDiagnosticAlias,
};

/// Who states it. The graph's word wins where it may differ at all.
enum class PortConfigurationLayer : std::uint8_t { kSetup = 0, kGraph };

/// Where one fact of one port comes from. Facts that nobody states have no record.
struct PortConfigurationRecord {
  PortRef port{};
  bool is_output{false};
  PortFact fact{PortFact::kQueueDepth};
  PortConfigurationLayer layer{PortConfigurationLayer::kSetup};
  std::string value{};
  /// What setup() states and the graph replaced; absent when nothing was replaced.
  std::optional<std::string> replaced{};
};

/// Who decides on lanes.
enum class PartitioningMode : std::uint8_t {
  kAutomatic = 0,  ///< The compiler alone.
  kHybrid,         ///< Authored partitions; the compiler places the remainder.
  kExact,          ///< Authored partitions only; a remainder is an error.
  kIncludeAll,     ///< One lane for all.
};

struct PartitioningPlanRecord {
  PartitioningMode mode{PartitioningMode::kAutomatic};
  std::string algorithm{};  ///< Of the remainder: "source_chain".
  std::uint32_t algorithm_version{0};
  std::uint32_t authored_partition_count{0};  ///< Of those that have operators.
};

/// An edge from one partition to another.
struct ScheduleEdgeRecord {
  EdgeId edge{};
  PartitionId source{};
  PartitionId destination{};
};

/// Why an operator is where it is. The first eight are the public vocabulary, in its order.
enum class PartitionDecisionReason : std::uint8_t {
  kProcessBoundary = 0,
  kExternalEndpointBoundary,
  kDeviceTransferIncompatibility,
  kRegionBackendAdmission,
  kExplicitThreadPlacement,
  kLifecycleIsolation,
  kReadinessIsolation,
  kIndependentReadinessRoot,  ///< Nothing leads here: it is activated on its own.
  kLinearChain,
  kFanOutLeg,
  kFanIn,
  kAuthoredPartition,
  kAuthoredNeighbour,  ///< Behind an operator of an authored partition, which nobody joins.
  kFlowLoop,
  kWholeRoot,  ///< One partition includes all.
};

}  // namespace weftline
