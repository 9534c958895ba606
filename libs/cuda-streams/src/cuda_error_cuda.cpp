// SPDX-License-Identifier: Apache-2.0
#include "cuda_error.hpp"

namespace weftline::cuda_streams {
namespace {

ErrorCode code_of(cudaError_t status) noexcept {
  switch (status) {
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidResourceHandle:
      return ErrorCode::kInvalidArgument;
    case cudaErrorMemoryAllocation:
    case cudaErrorLaunchOutOfResources:
      return ErrorCode::kResourceExhausted;
    case cudaErrorNotSupported:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return ErrorCode::kNotSupported;
    default:
      return ErrorCode::kFailure;
  }
}

std::string_view advice_for(cudaError_t status) noexcept {
  if (is_sticky(status)) {
    return "A kernel or copy queued earlier went wrong, and this process can't use the device any "
           "more. Find it with compute-sanitizer or CUDA_LAUNCH_BLOCKING=1, then restart the "
           "process.";
  }
  switch (status) {
    case cudaErrorMemoryAllocation:
      return "Use smaller or fewer buffers, or end other programs on the device.";
    case cudaErrorInvalidResourceHandle:
      return "Check that the device was current (make_current()) and that the stream or event "
             "still exists.";
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchOutOfResources:
      return "Check the launch's grid, block and shared memory sizes against the device's limits.";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
      return "Build the kernel for this device (CMAKE_CUDA_ARCHITECTURES), or use a newer driver.";
    case cudaErrorInvalidDeviceFunction:
      return "Pass a __global__ function of this program that is built for this device.";
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureImplicit:
      return "End the stream capture of this thread before the call.";
    default:
      return "Check the arguments of the call and the state of the device (nvidia-smi).";
  }
}

}  // namespace

bool is_sticky(cudaError_t status) noexcept {
  // Those of which CUDA says that the process must be terminated, and the hardware's own.
  switch (status) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

std::string cuda_error_text(cudaError_t status) {
  return std::string(cudaGetErrorName(status)) + " (" + cudaGetErrorString(status) + ")";
}

Error describe_cuda_failure(cudaError_t status, std::string_view call, DeviceId device) {
  return Error{code_of(status), is_sticky(status) ? "DEVICE_LOST" : "DEVICE_CALL_FAILED",
               device.to_string() + ": " + std::string(call) + " failed with " +
                   cuda_error_text(status) + ". " + std::string(advice_for(status)),
               0};
}

}  // namespace weftline::cuda_streams
