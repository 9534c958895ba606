// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "weftline/cuda/device.hpp"

// What the rest of the library knows of CUDA. Built either with the backend (cuda_*_cuda.cpp) or
// without (cuda_device_no_cuda.cpp).

namespace weftline::cuda_streams {

/// Sorted by ordinal; empty without a driver. Makes no context and prints nothing.
[[nodiscard]] std::vector<DeviceDescription> describe_cuda_devices();

/// kNotFound (DEVICE_UNKNOWN) comes without a message: the caller knows which devices exist.
[[nodiscard]] expected<std::shared_ptr<Device>, Error> open_cuda_device(DeviceId id);

}  // namespace weftline::cuda_streams
