// SPDX-License-Identifier: Apache-2.0
#include "detect_operators.hpp"

#include <utility>

#include "pixel_steps.hpp"
#include "step_support.hpp"

namespace motion_watch {

using weftline::Error;
using weftline::expected;
using weftline::MemoryAccess;
using weftline::StreamRef;

void GrayHalfOperator::setup(weftline::OperatorSpec& spec) {
  spec.input(frames, "frames").expects_tensor(expected_tensor(memory_.host_side, 3));
  spec.output(gray, "gray").produces_tensor(pooled(memory_.device_side, 2, frame_.half().pixels()));
}

void GrayHalfOperator::start(weftline::LifecycleContext& context) { preload_kernels(context); }

expected<void, Error> GrayHalfOperator::compute(weftline::ExecutionContext& context) {
  WEFTLINE_ASSIGN(auto sample, frames.receive());
  const auto shape = gray_shape(frame_.half());
  WEFTLINE_ASSIGN(auto loan, gray.allocate_tensor({.shape = shape, .dtype = kByte}));
  const StreamRef stream = context.cuda_stream();
  WEFTLINE_TRY(loan.write_and_commit(stream, [&](void* data, std::uint64_t bytes) {
    const auto* rgb = sample.data.data_as<std::uint8_t>();
    auto* out = static_cast<std::uint8_t*>(data);
    const MemoryAccess reads[]{{rgb, sample.data.byte_size()}};
    const MemoryAccess writes[]{{out, bytes}};
    return weftline::launch(
        stream, reads, writes, [=, frame = frame_] { gray_half_host(rgb, frame, out); },
        [=, frame = frame_](CUstream_st* queue) {
          return cuda_result(gray_half_cuda(queue, rgb, frame, out));
        });
  }));
  return gray.emit(std::move(loan), same_frame(sample.metadata));
}

void MotionMaskOperator::setup(weftline::OperatorSpec& spec) {
  spec.input(gray, "gray").expects_tensor(expected_tensor(memory_.device_side, 2));
  spec.output(mask, "mask").produces_tensor(pooled(memory_.device_side, 2, frame_.half().pixels()));
}

void MotionMaskOperator::start(weftline::LifecycleContext& context) {
  background_ = own_memory(context, frame_.half().pixels() * sizeof(std::uint16_t));
  raw_mask_ = own_memory(context, frame_.half().pixels());
}

expected<void, Error> MotionMaskOperator::compute(weftline::ExecutionContext& context) {
  WEFTLINE_ASSIGN(auto sample, gray.receive());
  const auto shape = gray_shape(frame_.half());
  WEFTLINE_ASSIGN(auto loan, mask.allocate_tensor({.shape = shape, .dtype = kByte}));
  const StreamRef stream = context.cuda_stream();
  WEFTLINE_TRY(loan.write_and_commit(stream, [&](void* data, std::uint64_t bytes) {
    const auto* in = sample.data.data_as<std::uint8_t>();
    auto* background = reinterpret_cast<std::uint16_t*>(background_.data());
    auto* raw = reinterpret_cast<std::uint8_t*>(raw_mask_.data());
    auto* cleaned = static_cast<std::uint8_t*>(data);
    const MemoryAccess reads[]{{in, sample.data.byte_size()}};
    const MemoryAccess writes[]{
        {background, background_.byte_size()}, {raw, raw_mask_.byte_size()}, {cleaned, bytes}};
    return weftline::launch(
        stream, reads, writes,
        [=, frame = frame_, first = first_] {
          motion_update_host(in, frame, first, background, raw);
          clean_mask_host(raw, frame, cleaned);
        },
        [=, frame = frame_, first = first_](CUstream_st* queue) -> expected<void, Error> {
          WEFTLINE_TRY(cuda_result(motion_update_cuda(queue, in, frame, first, background, raw)));
          return cuda_result(clean_mask_cuda(queue, raw, frame, cleaned));
        });
  }));
  first_ = false;
  return mask.emit(std::move(loan), same_frame(sample.metadata));
}

void BoxesOperator::setup(weftline::OperatorSpec& spec) {
  spec.input(mask, "mask").expects_tensor(expected_tensor(memory_.device_side, 2));
  spec.output(boxes, "boxes").produces_tensor(pooled(memory_.host_side, 1, sizeof(MotionBoxes)));
}

void BoxesOperator::start(weftline::LifecycleContext& context) {
  counts_ = own_memory(context, cell_grid(frame_).pixels());
  work_ = own_memory(context, cell_grid(frame_).pixels() * sizeof(CellRegion));
}

expected<void, Error> BoxesOperator::compute(weftline::ExecutionContext& context) {
  WEFTLINE_ASSIGN(auto sample, mask.receive());
  WEFTLINE_ASSIGN(auto loan, boxes.allocate_tensor({.shape = kBoxesShape, .dtype = kByte}));
  const StreamRef stream = context.cuda_stream();
  WEFTLINE_TRY(loan.write_and_commit(stream, [&](void* data, std::uint64_t bytes) {
    const auto* in = sample.data.data_as<std::uint8_t>();
    auto* counts = reinterpret_cast<std::uint8_t*>(counts_.data());
    auto* work = reinterpret_cast<CellRegion*>(work_.data());
    auto* found = static_cast<MotionBoxes*>(data);
    const MemoryAccess reads[]{{in, sample.data.byte_size()}};
    const MemoryAccess writes[]{
        {counts, counts_.byte_size()}, {work, work_.byte_size()}, {found, bytes}};
    return weftline::launch(
        stream, reads, writes,
        [=, frame = frame_] {
          cell_counts_host(in, frame, counts);
          label_boxes_host(counts, frame, work, found);
        },
        [=, frame = frame_](CUstream_st* queue) -> expected<void, Error> {
          WEFTLINE_TRY(cuda_result(cell_counts_cuda(queue, in, frame, counts)));
          return cuda_result(label_boxes_cuda(queue, counts, frame, work, found));
        });
  }));
  return boxes.emit(std::move(loan), same_frame(sample.metadata));
}

}  // namespace motion_watch
