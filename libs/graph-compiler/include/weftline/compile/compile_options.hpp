// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weftline/compile/lifecycle_transaction_options.hpp"
#include "weftline/core/device_catalog.hpp"
#include "weftline/core/rate.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// Puts one pooled output's memory on one device.
struct TensorOutputDevicePlacement {
  std::string operator_path{};
  std::string output_port{};
  DeviceId device{};
};

/// Where things of a graph are placed in one deployment. Values only; checked by compile().
class DeploymentBinding {
 public:
  /// Required for every pooled output in device or managed memory, refused for any other.
  DeploymentBinding& bind_tensor_output_device(TensorOutputDevicePlacement placement) {
    tensor_output_devices_.push_back(std::move(placement));
    return *this;
  }
  [[nodiscard]] const std::vector<TensorOutputDevicePlacement>& tensor_output_devices()
      const noexcept {
    return tensor_output_devices_;
  }

 private:
  std::vector<TensorOutputDevicePlacement> tensor_output_devices_{};
};

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
  /// Absent: the plan admits no restart, whatever the graph grants.
  std::optional<LifecycleTransactionOptions> lifecycle_transactions{};
};

}  // namespace weftline
