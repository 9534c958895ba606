// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>

#include "weftline/cuda/device.hpp"

namespace weftline {

/// Runs one step of work in the order of `stream`, the same way on every device:
///  - no stream: `host_fn()` at once, on this thread;
///  - an emulated device: `host_fn` as a task in stream order;
///  - CUDA: `cuda_fn(cudaStream_t)` at once, which launches on that stream and returns
///    `expected<void, Error>`. The device must be the thread's current one.
/// A stream without a handle is kInvalidArgument (DEVICE_NULL_OBJECT). Where `cuda_fn` refuses, its
/// error is the outcome, and CUDA's last error is cleared.
///
/// `host_fn` captures plain values only (see HostTask). `reads` and `writes` declare all bytes that
/// the step touches, for a StreamOrderChecker. Allocates nothing, and blocks only where
/// `Device::launch_host` does.
template <class HostFn, class CudaFn>
expected<void, Error> launch(StreamRef stream, std::span<const MemoryAccess> reads,
                             std::span<const MemoryAccess> writes, HostFn&& host_fn,
                             CudaFn&& cuda_fn) {
  if (!stream) {
    host_fn();
    return {};
  }
  if (stream.get() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT");  // CUDA's default stream
  }
  Device& device = *stream.device();
  if (device.id().kind == DeviceKind::kEmulated) {
    return device.launch_step(stream, reads, writes, HostTask(std::forward<HostFn>(host_fn)));
  }
  device.declare_step(stream, reads, writes);
  expected<void, Error> outcome = cuda_fn(stream.get());
  // Asked in any case: what a refused step left behind is not the next launch's error.
  expected<void, Error> launched = device.check_launch();
  return outcome ? std::move(launched) : std::move(outcome);
}

}  // namespace weftline
