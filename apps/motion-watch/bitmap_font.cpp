// SPDX-License-Identifier: Apache-2.0
#include "bitmap_font.hpp"

#include <algorithm>

namespace motion_watch {
namespace {

struct Glyph {
  char character;
  std::uint8_t rows[kGlyphHeight];  // bit 4 is the leftmost dot
};

constexpr Glyph kGlyphs[] = {
    {'0', {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110}},
    {'1', {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110}},
    {'2', {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111}},
    {'3', {0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110}},
    {'4', {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010}},
    {'5', {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110}},
    {'6', {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110}},
    {'7', {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000}},
    {'8', {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110}},
    {'9', {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100}},
    {'a', {0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111}},
    {'e', {0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110}},
    {'f', {0b00110, 0b01001, 0b01000, 0b11100, 0b01000, 0b01000, 0b01000}},
    {'m', {0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101}},
    {'r', {0b00000, 0b00000, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000}},
};

void draw_glyph(RgbImage& image, std::uint32_t left, std::uint32_t top, std::uint32_t scale,
                Colour colour, const Glyph& glyph) {
  const std::uint32_t right = std::min(left + 5 * scale, image.geometry.width);
  const std::uint32_t bottom = std::min(top + kGlyphHeight * scale, image.geometry.height);
  for (std::uint32_t y = top; y < bottom; ++y) {
    for (std::uint32_t x = left; x < right; ++x) {
      if ((glyph.rows[(y - top) / scale] >> (4 - (x - left) / scale) & 1) == 0) continue;
      std::uint8_t* pixel = &image.pixels[3 * (std::size_t{y} * image.geometry.width + x)];
      pixel[0] = colour.r;
      pixel[1] = colour.g;
      pixel[2] = colour.b;
    }
  }
}

}  // namespace

void draw_text(RgbImage& image, std::uint32_t x, std::uint32_t y, std::uint32_t scale,
               Colour colour, std::string_view text) {
  for (const char character : text) {
    const auto* glyph = std::find_if(std::begin(kGlyphs), std::end(kGlyphs),
                                     [&](const Glyph& g) { return g.character == character; });
    if (glyph != std::end(kGlyphs)) draw_glyph(image, x, y, scale, colour, *glyph);
    x += kGlyphWidth * scale;
  }
}

}  // namespace motion_watch
