// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pixel_steps.hpp"
#include "weftline/core/sample.hpp"
#include "weftline/cuda/launch.hpp"
#include "weftline/graph/execution_context.hpp"

namespace motion_watch {

/// The result of a step's CUDA form as an error of ours.
inline weftline::expected<void, weftline::Error> cuda_result(int error) {
  if (error == 0) return {};
  return weftline::fail(weftline::ErrorCode::kFailure, "MOTION_WATCH_KERNEL",
                        pixel_error_name(error));
}

/// When the frame of this sample was taken. The source stamps each frame, and each step keeps it.
inline weftline::expected<std::int64_t, weftline::Error> capture_ns(
    const weftline::SampleMetadata& metadata) {
  if (metadata.capture) return metadata.capture->timestamp_ns;
  return weftline::fail(weftline::ErrorCode::kProtocolError, "MOTION_WATCH_WITHOUT_CAPTURE_TIME");
}

/// What a derived sample keeps of the frame that it was made from.
inline weftline::EmitOptions same_frame(const weftline::SampleMetadata& metadata) {
  return {.capture_time = metadata.capture,
          .frame_id = metadata.frame_id,
          .trace = metadata.trace,
          .flags = metadata.flags};
}

/// Memory of an operator's own, where its tensors live. Throws when it can't be had: for `start()`.
weftline::MemoryBlock own_memory(weftline::LifecycleContext& context, std::uint64_t bytes);

/// Loads the kernels of a CUDA device before the first frame, for a first launch can block. For
/// `start()`.
void preload_kernels(weftline::LifecycleContext& context);

}  // namespace motion_watch
