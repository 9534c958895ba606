// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "weftline/core/device_catalog.hpp"
#include "weftline/core/error.hpp"

namespace weftline::cuda_streams {

/// True for the errors after which every call of this process on the device fails the same way.
[[nodiscard]] bool is_sticky(cudaError_t status) noexcept;

/// "cudaErrorInvalidValue (invalid argument)".
[[nodiscard]] std::string cuda_error_text(cudaError_t status);

/// What a failed call means to the caller, in words. DEVICE_LOST for a sticky error, else
/// DEVICE_CALL_FAILED.
[[nodiscard]] Error describe_cuda_failure(cudaError_t status, std::string_view call,
                                          DeviceId device);

}  // namespace weftline::cuda_streams
