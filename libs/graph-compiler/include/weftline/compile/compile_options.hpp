// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "weftline/catalog/endpoint_catalog.hpp"
#include "weftline/compile/deployment_binding.hpp"
#include "weftline/compile/lifecycle_transaction_options.hpp"
#include "weftline/core/device_catalog.hpp"
#include "weftline/core/rate.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// How work is put on devices.
struct CudaExecutionOptions {
  /// Frozen in the plan. Sharing puts all of a process's work of a device in one order: fewer
  /// streams, more edges without fences, and no overlap. It changes no pool.
  CudaComputeStreamPolicy compute_stream_policy{CudaComputeStreamPolicy::kPartitionDevice};
};

/// How depths that nobody gave are chosen where rates and contract say enough.
struct AutomaticQueueSizing {
  /// Times the nominal arrivals over the horizon; at least 1. It covers no jitter that anybody
  /// proved, and changes neither given depths nor hard floors.
  RateRatio headroom_ratio{2, 1};
};

/// All that compilation depends on besides the graph.
struct CompileOptions {
  DeploymentBinding deployment{};
  CudaExecutionOptions cuda_execution{};
  /// What the target offers; from `capture_device_catalog()`. A host-only graph needs none.
  DeviceCatalog devices{};
  AutomaticQueueSizing automatic_queue_sizing{};
  /// The contract that peers already have: each of the graph's endpoints has to be in it and agree
  /// with it. Absent: the graph's own declarations are the contract.
  std::optional<ChannelEndpointCatalog> endpoint_catalog{};
  /// How much evidence the plan needs; see Profile.
  Profile profile{Profile::kDevelopment};
  /// Absent: the plan admits no restart, whatever the graph grants.
  std::optional<LifecycleTransactionOptions> lifecycle_transactions{};
};

}  // namespace weftline
