// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "pixel_steps.hpp"

#if defined(__CUDACC__)
#define WEFTLINE_HOST_DEVICE __host__ __device__
#else
#define WEFTLINE_HOST_DEVICE
#endif

namespace motion_watch {

// The arithmetic of single pixels and cells, one text for host and CUDA.

WEFTLINE_HOST_DEVICE inline std::uint8_t gray_of(std::uint8_t r, std::uint8_t g, std::uint8_t b) {
  return static_cast<std::uint8_t>((77u * r + 150u * g + 29u * b + 128u) >> 8);
}

WEFTLINE_HOST_DEVICE inline std::uint8_t mean_of_four(unsigned a, unsigned b, unsigned c,
                                                      unsigned d) {
  return static_cast<std::uint8_t>((a + b + c + d + 2u) >> 2);
}

WEFTLINE_HOST_DEVICE inline std::uint16_t initial_background(std::uint8_t gray) {
  return static_cast<std::uint16_t>(gray << 8);
}

WEFTLINE_HOST_DEVICE inline std::uint8_t motion_of(std::uint8_t gray, std::uint16_t background) {
  const int difference = gray - (background >> 8);
  return difference > kMotionThreshold || difference < -kMotionThreshold ? 255 : 0;
}

WEFTLINE_HOST_DEVICE inline std::uint16_t next_background(std::uint8_t gray,
                                                          std::uint16_t background) {
  const std::int32_t difference = (gray << 8) - background;
  return static_cast<std::uint16_t>(background + (difference >> kBackgroundShift));
}

/// `set` is how many of the 9 pixels of a neighbourhood are set.
WEFTLINE_HOST_DEVICE inline std::uint8_t majority_of(unsigned set) { return set >= 5u ? 255 : 0; }

WEFTLINE_HOST_DEVICE inline std::uint8_t tinted(std::uint8_t value, std::uint8_t tint) {
  return static_cast<std::uint8_t>((value + tint + 1u) >> 1);
}

/// The box of a region in pixels of the frame.
WEFTLINE_HOST_DEVICE inline Box box_of(const CellRegion& region, FrameGeometry frame) {
  constexpr std::uint32_t kCell = 2 * kCellSide;
  const std::uint32_t width = frame.width / 2 * 2;
  const std::uint32_t height = frame.height / 2 * 2;
  const std::uint32_t x = region.min_x * kCell;
  const std::uint32_t y = region.min_y * kCell;
  const std::uint32_t right = (region.max_x + 1) * kCell;
  const std::uint32_t bottom = (region.max_y + 1) * kCell;
  return {static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y),
          static_cast<std::uint16_t>((right < width ? right : width) - x),
          static_cast<std::uint16_t>((bottom < height ? bottom : height) - y)};
}

/// Larger comes first: by area, then by lower label. Unique among the regions of a frame, never 0.
WEFTLINE_HOST_DEVICE inline std::uint64_t rank_of(const CellRegion& region) {
  return std::uint64_t{region.area} << 32 | (0xffffffffu - region.label);
}

}  // namespace motion_watch
