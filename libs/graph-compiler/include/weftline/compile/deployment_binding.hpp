// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weftline/core/device_catalog.hpp"
#include "weftline/plan/thread_placement.hpp"

namespace weftline {

/// Puts the memory of one output on one device.
struct TensorOutputDevicePlacement {
  std::string operator_path{};
  std::string output_port{};
  DeviceId device{};
};

/// Puts one imported topic's tensors on one device.
struct ImportedTopicDevicePlacement {
  std::string endpoint_name{};
  DeviceId device{};
};

/// Sets SMs of one device apart for one named partition.
struct GreenContextBinding {
  std::string partition{};
  DeviceId device{};
  /// Exact: a positive multiple of the device's GreenContextSupport::quantum_sms().
  std::uint32_t sm_count{0};
};

/// How many producer incarnations one import admits.
struct ImportGenerationCapacity {
  std::string endpoint_name{};
  std::uint32_t generation_capacity{2};
};

struct PartitionPlacement {
  std::string partition{};
  ThreadPlacement placement{};
};

struct SupportThreadPlacement {
  SupportThreadRole role{SupportThreadRole::kController};
  CpuAffinity affinity{};
  ProbeFailurePolicy probe_failure_policy{ProbeFailurePolicy::kFailAdmission};
};

/// Where things of a graph are placed in one deployment. Values only; checked by compile(). Nothing
/// is inferred: what needs a place and has none is an error that names the line to add.
class DeploymentBinding {
 public:
  /// Required for every pooled output in device or managed memory. Also for outputs without a pool
  /// that state such memory and are connected, unless their operator has a device by another bound
  /// output or by its partition's green context. Accepted for pinned pools that are exported.
  /// Refused for any other output.
  DeploymentBinding& bind_tensor_output_device(TensorOutputDevicePlacement placement) {
    tensor_output_devices_.push_back(std::move(placement));
    return *this;
  }
  /// Required for every imported topic of device or pinned tensors, refused for any other.
  DeploymentBinding& bind_imported_topic_device(ImportedTopicDevicePlacement placement) {
    imported_topic_devices_.push_back(std::move(placement));
    return *this;
  }
  /// Puts all of the plan's work on that device into green contexts: the partition's own, and one
  /// of the SMs that no binding takes. Once for each partition and device.
  DeploymentBinding& bind_green_context(GreenContextBinding binding) {
    green_contexts_.push_back(std::move(binding));
    return *this;
  }
  /// Raises what the graph admits for an import with `allow_external_restart`.
  DeploymentBinding& raise_import_generations(ImportGenerationCapacity capacity) {
    import_generations_.push_back(std::move(capacity));
    return *this;
  }
  /// Asks for a place of one named partition's lane; once for each.
  DeploymentBinding& place_partition(PartitionPlacement placement) {
    partitions_.push_back(std::move(placement));
    return *this;
  }
  /// Asks for the CPUs of a thread that runs no lane; once for each role.
  DeploymentBinding& place_support_thread(SupportThreadPlacement placement) {
    support_threads_.push_back(std::move(placement));
    return *this;
  }

  [[nodiscard]] const std::vector<TensorOutputDevicePlacement>& tensor_output_devices()
      const noexcept {
    return tensor_output_devices_;
  }
  [[nodiscard]] const std::vector<ImportedTopicDevicePlacement>& imported_topic_devices()
      const noexcept {
    return imported_topic_devices_;
  }
  [[nodiscard]] const std::vector<GreenContextBinding>& green_contexts() const noexcept {
    return green_contexts_;
  }
  [[nodiscard]] const std::vector<ImportGenerationCapacity>& import_generations() const noexcept {
    return import_generations_;
  }
  [[nodiscard]] const std::vector<PartitionPlacement>& partitions() const noexcept {
    return partitions_;
  }
  [[nodiscard]] const std::vector<SupportThreadPlacement>& support_threads() const noexcept {
    return support_threads_;
  }

 private:
  std::vector<TensorOutputDevicePlacement> tensor_output_devices_{};
  std::vector<ImportedTopicDevicePlacement> imported_topic_devices_{};
  std::vector<GreenContextBinding> green_contexts_{};
  std::vector<ImportGenerationCapacity> import_generations_{};
  std::vector<PartitionPlacement> partitions_{};
  std::vector<SupportThreadPlacement> support_threads_{};
};

}  // namespace weftline
