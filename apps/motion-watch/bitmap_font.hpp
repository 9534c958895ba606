// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "rgb_image.hpp"
#include "scene.hpp"

namespace motion_watch {

/// A character is 5 x 7 dots, with one free column to its right.
inline constexpr std::uint32_t kGlyphWidth = 6;
inline constexpr std::uint32_t kGlyphHeight = 7;

/// Draws `text` with its top left corner at (x, y), each dot `scale` pixels wide. Knows digits and
/// the letters of "frame"; other characters are blank. What lies outside the image is not drawn.
void draw_text(RgbImage& image, std::uint32_t x, std::uint32_t y, std::uint32_t scale,
               Colour colour, std::string_view text);

}  // namespace motion_watch
