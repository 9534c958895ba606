// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "scene.hpp"

namespace motion_watch {

/// A picture that owns its pixels: packed RGB, `geometry.rgb_bytes()` of them.
struct RgbImage {
  FrameGeometry geometry;
  std::vector<std::uint8_t> pixels;
};

}  // namespace motion_watch
