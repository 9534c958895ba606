// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace weftline::cuda_streams {

/// Lets this thread query, wait, allocate and free while another thread captures a graph: in CUDA's
/// default mode such a call would be refused, and would ruin that capture.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;
  ~RelaxedCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_{cudaStreamCaptureModeRelaxed};
};

}  // namespace weftline::cuda_streams
