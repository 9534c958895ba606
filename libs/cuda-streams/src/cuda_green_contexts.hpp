// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "annotated_mutex.hpp"
#include "sm_partition.hpp"
#include "sm_units.hpp"

namespace weftline::cuda_streams {

class CudaDevice;

/// Divides a device's SMs into green contexts. CUDA itself would give the same SMs out twice, and
/// joins only what one and the same split has made: so the device is split once, into the smallest
/// groups that there are, and a green context is made of several.
class CudaGreenContexts {
 public:
  explicit CudaGreenContexts(CudaDevice& device) noexcept : device_(device) {}

  /// Null where the driver or the device has none.
  [[nodiscard]] expected<std::shared_ptr<SmPartition>, Error> create(std::uint32_t sm_count)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Split {
    Split(CUdevice of, std::vector<CUdevResource> into)
        : device(of),
          groups(std::move(into)),
          units(static_cast<std::uint32_t>(groups.size()), groups.front().sm.smCount) {}
    const CUdevice device;
    const std::vector<CUdevResource> groups;  // of the same size
    SmUnits units;
  };

  /// Splits the device at the first call. Null where it has no green contexts.
  [[nodiscard]] expected<Split*, Error> split() ABSL_LOCKS_EXCLUDED(mutex_);

  CudaDevice& device_;
  Mutex mutex_;
  std::optional<Split> split_ ABSL_GUARDED_BY(mutex_);  // stays as it is once made
};

}  // namespace weftline::cuda_streams
