// SPDX-License-Identifier: Apache-2.0
#include "preview_operators.hpp"

#include <span>
#include <utility>

#include "pixel_steps.hpp"
#include "step_support.hpp"

namespace motion_watch {

using weftline::Error;
using weftline::expected;
using weftline::MemoryAccess;
using weftline::StreamRef;
using weftline::Tensor;

void OverlayOperator::setup(weftline::OperatorSpec& spec) {
  spec.input(frames, "frames").expects_tensor(expected_tensor(memory_.host_side, 3));
  spec.input(mask, "mask").expects_tensor(expected_tensor(memory_.device_side, 2));
  spec.input(boxes, "boxes").expects_tensor(expected_tensor(memory_.host_side, 1));
  spec.output(preview, "preview")
      .produces_tensor(pooled(memory_.device_side, 3, frame_.half().rgb_bytes()));
}

void OverlayOperator::start(weftline::LifecycleContext& context) { preload_kernels(context); }

expected<void, Error> OverlayOperator::compute(weftline::ExecutionContext& context) {
  WEFTLINE_ASSIGN(auto frame_sample, frames.receive());
  WEFTLINE_ASSIGN(auto mask_sample, mask.receive());
  WEFTLINE_ASSIGN(auto boxes_sample, boxes.receive());
  const auto shape = rgb_shape(frame_.half());
  WEFTLINE_ASSIGN(auto loan, preview.allocate_tensor({.shape = shape, .dtype = kByte}));
  const StreamRef stream = context.cuda_stream();
  WEFTLINE_TRY(loan.write_and_commit(stream, [&](void* data, std::uint64_t bytes) {
    const auto* rgb = frame_sample.data.data_as<std::uint8_t>();
    const auto* moving = mask_sample.data.data_as<std::uint8_t>();
    const auto* found = boxes_sample.data.data_as<MotionBoxes>();
    auto* out = static_cast<std::uint8_t*>(data);
    const MemoryAccess reads[]{{rgb, frame_sample.data.byte_size()},
                               {moving, mask_sample.data.byte_size()},
                               {found, sizeof *found}};
    const MemoryAccess writes[]{{out, bytes}};
    return weftline::launch(
        stream, reads, writes,
        [=, frame = frame_] { overlay_host(rgb, frame, moving, found, out); },
        [=, frame = frame_](CUstream_st* queue) {
          return cuda_result(overlay_cuda(queue, rgb, frame, moving, found, out));
        });
  }));
  return preview.emit(std::move(loan), same_frame(frame_sample.metadata));
}

void PreviewOperator::setup(weftline::OperatorSpec& spec) {
  spec.input(preview, "preview").expects_tensor(expected_tensor(memory_.device_side, 3));
  spec.input(mask, "mask").expects_tensor(expected_tensor(memory_.device_side, 2));
}

void PreviewOperator::start(weftline::LifecycleContext&) {
  host_preview_.resize(frame_.half().rgb_bytes());
  host_mask_.resize(frame_.half().pixels());
}

namespace {

/// The tensor's bytes on the host: where they are, or copied into `copy`, waiting for the copy.
expected<std::span<const std::uint8_t>, Error> on_host(const Tensor& tensor,
                                                       std::span<std::uint8_t> copy,
                                                       StreamRef stream) {
  if (weftline::is_host_accessible(tensor.memory_kind())) {
    return std::span(tensor.data_as<std::uint8_t>(), static_cast<std::size_t>(tensor.byte_size()));
  }
  WEFTLINE_TRY(tensor.copy_to_host(copy.data(), tensor.byte_size(), stream));
  return copy;
}

}  // namespace

expected<void, Error> PreviewOperator::compute(weftline::ExecutionContext& context) {
  WEFTLINE_ASSIGN(auto preview_sample, preview.receive());
  WEFTLINE_ASSIGN(auto mask_sample, mask.receive());
  const StreamRef stream = context.cuda_stream();
  WEFTLINE_ASSIGN(const auto picture, on_host(preview_sample.data, host_preview_, stream));
  const std::uint64_t frame_id = preview_sample.metadata.frame_id.value_or(0);
  if (sheet_->wants_next()) {
    WEFTLINE_ASSIGN(const auto moving, on_host(mask_sample.data, host_mask_, stream));
    sheet_->add(frame_id, picture, moving);
  } else {
    sheet_->skip();
  }
  WEFTLINE_ASSIGN(const std::int64_t taken_ns, capture_ns(preview_sample.metadata));
  stats_->frame_arrived(Sink::kPreview, frame_id, context.clock().now().timestamp_ns - taken_ns);
  return {};
}

}  // namespace motion_watch
