// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace motion_watch {

/// The size of a picture in pixels. Rows are packed: an RGB picture is height x width x 3 bytes,
/// a gray picture or a mask is height x width bytes, both without padding.
struct FrameGeometry {
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  /// Half the width and half the height. Odd sizes are floored, so the last row or column of an
  /// odd frame has no pixel in the half-size picture; a side of 1 becomes 0.
  constexpr FrameGeometry half() const { return {width / 2, height / 2}; }

  constexpr std::size_t pixels() const { return std::size_t{width} * height; }
  constexpr std::size_t rgb_bytes() const { return pixels() * 3; }

  friend constexpr bool operator==(const FrameGeometry&, const FrameGeometry&) = default;
};

struct Colour {
  std::uint8_t r = 0, g = 0, b = 0;
};

/// The largest side of a frame: box coordinates are 16 bit.
inline constexpr std::uint32_t kMaxFrameSide = 65535;

}  // namespace motion_watch
