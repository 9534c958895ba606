// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weftline/core/device_catalog.hpp"
#include "weftline/core/ids.hpp"
#include "weftline/plan/port_ref.hpp"
#include "weftline/plan/thread_placement.hpp"

namespace weftline {

// Where things of a plan are, as its deployment says.

using GreenContextPlanId = Id<struct GreenContextPlanIdTag>;

/// Why an output without a pool has its device.
enum class TensorOutputPlacementOrigin : std::uint8_t {
  kBound = 0,     ///< A binding names the output.
  kOperator,      ///< Another output of its operator is bound.
  kGreenContext,  ///< Its partition has SMs of one device.
};

/// One for each output that passes device memory through to somebody, by output.
struct TensorOutputPlacementRecord {
  PortRef output{};
  DeviceId device{};
  TensorOutputPlacementOrigin origin{TensorOutputPlacementOrigin::kBound};
};

/// Whose a part of a device's SMs is.
enum class GreenContextRole : std::uint8_t {
  kDedicatedPartition = 0,  ///< One partition's.
  kSharedServiceResidual,   ///< All other work's on this device.
  kReservedResidual,        ///< Nobody's: too few to be set apart.
};

enum class GreenContextSource : std::uint8_t {
  kDeveloperBinding = 0,
  kAutomaticPolicy,  ///< No such policy exists yet.
  kResidualPolicy,   ///< What bindings leave.
};

struct GreenContextResourcePlanRecord {
  GreenContextPlanId id{};
  DeviceId device{};
  GreenContextRole role{GreenContextRole::kDedicatedPartition};
  PartitionId partition{};       ///< kDedicatedPartition only.
  std::string partition_name{};  ///< Empty otherwise.
  std::uint32_t sm_count{0};  ///< Exact, a multiple of the pool's quantum; kReservedResidual: any.
  GreenContextSource source{GreenContextSource::kDeveloperBinding};
};

/// A device whose SMs are divided. All work of the plan on it runs in one of `resources`.
struct GreenContextPoolPlanRecord {
  DeviceId device{};
  std::uint32_t total_sm_count{0};  ///< The sum of the resources.
  std::uint32_t quantum_sms{0};
  std::vector<GreenContextPlanId> resources{};
};

/// What was asked for the thread of one lane. Nothing says that a run could give it.
struct PartitionPlacementPlanRecord {
  PartitionId partition{};
  std::string partition_name{};
  ThreadPlacement requested{};
};

struct SupportThreadPlacementPlanRecord {
  SupportThreadRole role{SupportThreadRole::kController};
  CpuAffinity affinity{};
  ProbeFailurePolicy probe_failure_policy{ProbeFailurePolicy::kFailAdmission};
};

}  // namespace weftline
