// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "motion_boxes.hpp"
#include "scene.hpp"

struct CUstream_st;

namespace motion_watch {

// The pixel steps of motion-watch. Each step exists twice:
//
//   xxx_host(arguments)          runs now, on the calling thread, on host memory;
//   xxx_cuda(stream, arguments)  queues the work on `stream`, on memory that its device can reach.
//
// Both use integers only and give identical bits.
//
// - Every step takes the geometry of the full-size frame, at most kMaxFrameSide on a side. "Half"
//   below is `frame.half()`; a half of no pixels is allowed, its steps do nothing.
// - The caller owns all memory. Inputs and outputs of one call must not overlap, except where one
//   argument is both. Pointers need only the alignment of their type.
// - No step allocates, keeps state, or throws. The host form may run on any thread. The CUDA form
//   returns without waiting for the work; memory must live until the stream has passed it.
// - The CUDA form returns 0 or the value of a `cudaError_t`; `pixel_error_name` names it. A build
//   without CUDA has the same functions, and they return kNotBuiltWithCuda.

inline constexpr int kNotBuiltWithCuda = -1;

/// A mask pixel is set when gray and background differ by more than this.
inline constexpr int kMotionThreshold = 24;
/// The background moves towards each new frame by 1 / 2^kBackgroundShift of the difference.
inline constexpr int kBackgroundShift = 4;
/// The mask is counted in square cells of this many half-size pixels.
inline constexpr std::uint32_t kCellSide = 8;
/// A cell with at least this many set pixels moves.
inline constexpr std::uint32_t kCellMinimum = 8;

/// The number of cells across and down; cells at the right and lower edge may be partial.
constexpr FrameGeometry cell_grid(FrameGeometry frame) {
  const FrameGeometry half = frame.half();
  return {(half.width + kCellSide - 1) / kCellSide, (half.height + kCellSide - 1) / kCellSide};
}

/// Working memory of `label_boxes`, one per cell. Its contents mean nothing between calls.
struct CellRegion {
  std::uint32_t label;
  std::uint32_t area;
  std::uint32_t min_x, min_y, max_x, max_y;
};

/// `gray` (half) from `rgb` (frame): each pixel becomes (77 R + 150 G + 29 B + 128) >> 8, then each
/// 2 x 2 block its mean, (sum + 2) >> 2.
void gray_half_host(const std::uint8_t* rgb, FrameGeometry frame, std::uint8_t* gray);
int gray_half_cuda(CUstream_st* stream, const std::uint8_t* rgb, FrameGeometry frame,
                   std::uint8_t* gray);

/// One step of the running background, and the raw mask (both half).
/// `background` holds 8.8 fixed point, updated in place:
///     mask = |gray - (background >> 8)| > kMotionThreshold ? 255 : 0      with the old background
///     background += ((gray << 8) - background) >> kBackgroundShift
/// The sum is made in 32-bit signed integers and the shift is arithmetic (rounds down).
/// With `first`, the old background is not read: it becomes gray << 8 and the mask is all 0.
void motion_update_host(const std::uint8_t* gray, FrameGeometry frame, bool first,
                        std::uint16_t* background, std::uint8_t* mask);
int motion_update_cuda(CUstream_st* stream, const std::uint8_t* gray, FrameGeometry frame,
                       bool first, std::uint16_t* background, std::uint8_t* mask);

/// The majority of each 3 x 3 neighbourhood (both half): `cleaned` is 255 where at least 5 of the 9
/// pixels of `mask` are set. Pixels outside the picture count as not set.
void clean_mask_host(const std::uint8_t* mask, FrameGeometry frame, std::uint8_t* cleaned);
int clean_mask_cuda(CUstream_st* stream, const std::uint8_t* mask, FrameGeometry frame,
                    std::uint8_t* cleaned);

/// `counts` (one per cell, row by row): the set pixels of `mask` in the cell, 0 to 64.
void cell_counts_host(const std::uint8_t* mask, FrameGeometry frame, std::uint8_t* counts);
int cell_counts_cuda(CUstream_st* stream, const std::uint8_t* mask, FrameGeometry frame,
                     std::uint8_t* counts);

/// The regions of moving cells and their boxes. `work` has one element per cell.
/// Moving cells that touch, corners included, are one region; its label is its lowest cell index.
/// Boxes are ordered by area in cells, largest first, and by label where areas are equal; the
/// first kMaxBoxes are kept. A box covers its cells, cut off at twice the half size.
void label_boxes_host(const std::uint8_t* counts, FrameGeometry frame, CellRegion* work,
                      MotionBoxes* boxes);
int label_boxes_cuda(CUstream_st* stream, const std::uint8_t* counts, FrameGeometry frame,
                     CellRegion* work, MotionBoxes* boxes);

/// `preview` (RGB, half): the mean of each 2 x 2 block of `rgb` (frame), mixed with a tint where
/// `mask` (half) is set, and the outlines of `boxes` on top, 2 pixels wide and inside the box.
void overlay_host(const std::uint8_t* rgb, FrameGeometry frame, const std::uint8_t* mask,
                  const MotionBoxes* boxes, std::uint8_t* preview);
int overlay_cuda(CUstream_st* stream, const std::uint8_t* rgb, FrameGeometry frame,
                 const std::uint8_t* mask, const MotionBoxes* boxes, std::uint8_t* preview);

/// The kernels of the CUDA forms, for `weftline::Device::preload()`; none in a build without CUDA.
std::span<const void* const> pixel_kernels();

/// The name of a value that a CUDA form returned; never null.
const char* pixel_error_name(int error);

/// How the overlay looks.
inline constexpr Colour kTintColour{0, 208, 190};
inline constexpr Colour kOutlineColour{255, 184, 28};
/// Width of a box outline, in pixels of the preview.
inline constexpr std::uint32_t kOutlineWidth = 2;

}  // namespace motion_watch
