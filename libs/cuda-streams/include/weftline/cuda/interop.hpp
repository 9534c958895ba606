// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cuda/stream_ref>
#include <string>

#include "weftline/cuda/device.hpp"
#include "weftline/cuda/stream_ref.hpp"

// Streams of other CUDA libraries as streams of ours, and back. The one header of Weftline that
// needs the CUDA Toolkit (12.8 or newer): include it by name, and link cudart. Both kinds of
// reference own nothing, so whoever owns the stream keeps it. Cold.

namespace weftline {

/// kNotSupported (DEVICE_NOT_CUDA) for a stream of an emulated device; kInvalidArgument
/// (DEVICE_NULL_OBJECT) for no stream, which is the host and not CUDA's default stream.
[[nodiscard]] inline expected<::cuda::stream_ref, Error> to_cuda(StreamRef stream) {
  if (stream.get() == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_NULL_OBJECT",
                "no stream is given, and it has no counterpart in CUDA: a null cuda::stream_ref "
                "is CUDA's default stream. Pass a stream of a device.");
  }
  const DeviceId device = stream.device()->id();
  if (device.kind != DeviceKind::kCuda) {
    return fail(ErrorCode::kNotSupported, "DEVICE_NOT_CUDA",
                "a stream of " + device.to_string() +
                    " is none of CUDA's. Write portable work with launch().");
  }
  return ::cuda::stream_ref(stream.get());
}

/// `device` says of which opened device the stream becomes one; it must be the stream's own. A
/// default stream (CUDA's null, legacy and per-thread ones) is kInvalidArgument
/// (DEVICE_DEFAULT_STREAM): it means another stream to another thread, or orders all the others. A
/// stream of another CUDA device is kInvalidArgument (DEVICE_FOREIGN_OBJECT), and kNotSupported
/// (DEVICE_NOT_CUDA) comes from an emulated device. The stream must exist: CUDA need not notice a
/// destroyed one.
[[nodiscard]] inline expected<StreamRef, Error> from_cuda(Device& device,
                                                          ::cuda::stream_ref stream) {
  const std::string name = device.id().to_string();
  if (device.id().kind != DeviceKind::kCuda) {
    return fail(ErrorCode::kNotSupported, "DEVICE_NOT_CUDA",
                name + " has streams of its own kind only; a CUDA stream needs its CUDA device.");
  }
  const cudaStream_t handle = stream.get();
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_DEFAULT_STREAM",
                "a default stream of CUDA cannot be a stream of " + name +
                    ". Make one with cudaStreamCreateWithFlags() or Device::create_stream().");
  }
  int ordinal = -1;
  if (const cudaError_t status = cudaStreamGetDevice(handle, &ordinal); status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return fail(ErrorCode::kInvalidArgument, "DEVICE_CALL_FAILED",
                name + ": cudaStreamGetDevice failed with " + cudaGetErrorName(status) +
                    ". Pass a stream that exists, of a device that works.");
  }
  if (static_cast<std::uint32_t>(ordinal) != device.id().ordinal) {
    return fail(ErrorCode::kInvalidArgument, "DEVICE_FOREIGN_OBJECT",
                "the stream is one of cuda:" + std::to_string(ordinal) + ", not of " + name +
                    ". Pass the stream's own device.");
  }
  return StreamRef(device, handle);
}

}  // namespace weftline
