// SPDX-License-Identifier: Apache-2.0
#include "pixel_steps.hpp"

namespace motion_watch {

int gray_half_cuda(CUstream_st*, const std::uint8_t*, FrameGeometry, std::uint8_t*) {
  return kNotBuiltWithCuda;
}

int motion_update_cuda(CUstream_st*, const std::uint8_t*, FrameGeometry, bool, std::uint16_t*,
                       std::uint8_t*) {
  return kNotBuiltWithCuda;
}

int clean_mask_cuda(CUstream_st*, const std::uint8_t*, FrameGeometry, std::uint8_t*) {
  return kNotBuiltWithCuda;
}

int cell_counts_cuda(CUstream_st*, const std::uint8_t*, FrameGeometry, std::uint8_t*) {
  return kNotBuiltWithCuda;
}

int label_boxes_cuda(CUstream_st*, const std::uint8_t*, FrameGeometry, CellRegion*, MotionBoxes*) {
  return kNotBuiltWithCuda;
}

int overlay_cuda(CUstream_st*, const std::uint8_t*, FrameGeometry, const std::uint8_t*,
                 const MotionBoxes*, std::uint8_t*) {
  return kNotBuiltWithCuda;
}

std::span<const void* const> pixel_kernels() { return {}; }

const char* pixel_error_name(int error) {
  return error == 0 ? "success" : "this program was built without CUDA";
}

}  // namespace motion_watch
