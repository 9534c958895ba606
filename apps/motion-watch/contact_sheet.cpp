// SPDX-License-Identifier: Apache-2.0
#include "contact_sheet.hpp"

#include <algorithm>
#include <string>

#include "bitmap_font.hpp"

namespace motion_watch {
namespace {

constexpr std::uint32_t kWidestTile = 400;
constexpr std::uint32_t kColumns = 3;
constexpr std::uint32_t kMargin = 32;
constexpr std::uint32_t kGap = 24;     // between tiles
constexpr std::uint32_t kPairGap = 4;  // between a preview and its mask
constexpr std::uint32_t kTextScale = 2;
constexpr std::uint32_t kLabelHeight = kGlyphHeight * kTextScale + 8;

constexpr Colour kPaper{19, 22, 28};
constexpr Colour kInk{176, 186, 200};
constexpr Colour kMaskClear{9, 11, 14};
constexpr Colour kMaskSet{226, 232, 240};

// The mean of each block of `by` x `by` pixels with `channels` bytes each.
void reduce(std::span<const std::uint8_t> from, FrameGeometry from_size, std::uint32_t by,
            std::uint32_t channels, FrameGeometry to_size, std::span<std::uint8_t> to) {
  const std::size_t row_bytes = std::size_t{from_size.width} * channels;
  std::size_t out = 0;
  for (std::uint32_t y = 0; y < to_size.height; ++y) {
    for (std::uint32_t x = 0; x < to_size.width; ++x) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        std::uint32_t sum = 0;
        for (std::uint32_t v = y * by; v < (y + 1) * by; ++v) {
          for (std::uint32_t u = x * by; u < (x + 1) * by; ++u) {
            sum += from[v * row_bytes + std::size_t{u} * channels + c];
          }
        }
        to[out++] = static_cast<std::uint8_t>(sum / (by * by));
      }
    }
  }
}

std::uint8_t between(std::uint8_t low, std::uint8_t high, std::uint8_t share) {
  return static_cast<std::uint8_t>((low * (255 - share) + high * share + 127) / 255);
}

void fill(RgbImage& image, Colour colour) {
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    image.pixels[i] = colour.r;
    image.pixels[i + 1] = colour.g;
    image.pixels[i + 2] = colour.b;
  }
}

std::uint8_t* row_at(RgbImage& image, std::uint32_t x, std::uint32_t y) {
  return image.pixels.data() + 3 * (std::size_t{y} * image.geometry.width + x);
}

void paste_preview(RgbImage& sheet, std::uint32_t x, std::uint32_t y, FrameGeometry size,
                   const std::vector<std::uint8_t>& preview) {
  const std::size_t row_bytes = std::size_t{size.width} * 3;
  for (std::uint32_t row = 0; row < size.height; ++row) {
    std::copy_n(preview.data() + row * row_bytes, row_bytes, row_at(sheet, x, y + row));
  }
}

void paste_mask(RgbImage& sheet, std::uint32_t x, std::uint32_t y, FrameGeometry size,
                const std::vector<std::uint8_t>& mask) {
  const std::uint8_t* set = mask.data();
  for (std::uint32_t row = 0; row < size.height; ++row) {
    std::uint8_t* pixel = row_at(sheet, x, y + row);
    for (std::uint32_t i = 0; i < size.width; ++i, pixel += 3, ++set) {
      pixel[0] = between(kMaskClear.r, kMaskSet.r, *set);
      pixel[1] = between(kMaskClear.g, kMaskSet.g, *set);
      pixel[2] = between(kMaskClear.b, kMaskSet.b, *set);
    }
  }
}

}  // namespace

ContactSheet::ContactSheet(FrameGeometry preview)
    : source_(preview),
      reduction_(std::max(1u, (preview.width + kWidestTile - 1) / kWidestTile)),
      tile_{preview.width / reduction_, preview.height / reduction_},
      tiles_(kMaxTiles) {
  for (Tile& tile : tiles_) {
    tile.preview.resize(tile_.rgb_bytes());
    tile.mask.resize(tile_.pixels());
  }
}

void ContactSheet::add(std::uint64_t frame_id, std::span<const std::uint8_t> preview_rgb,
                       std::span<const std::uint8_t> mask) {
  if (wants_next()) {
    // Thinning keeps the frames that the doubled stride would have kept, this one among them,
    // because kMaxTiles is even.
    if (used_ == kMaxTiles) thin_out();
    Tile& tile = tiles_[used_++];
    tile.frame_id = frame_id;
    reduce(preview_rgb, source_, reduction_, 3, tile_, tile.preview);
    reduce(mask, source_, reduction_, 1, tile_, tile.mask);
  }
  ++seen_;
}

void ContactSheet::thin_out() {
  for (std::size_t i = 1; i < kMaxTiles / 2; ++i) std::swap(tiles_[i], tiles_[2 * i]);
  used_ = kMaxTiles / 2;
  stride_ *= 2;
}

RgbImage ContactSheet::render() const {
  const auto used = static_cast<std::uint32_t>(used_);
  const std::uint32_t columns = std::min(used, kColumns);
  const std::uint32_t rows = columns > 0 ? used / columns : 0;
  const std::uint32_t shown = rows * columns;
  const FrameGeometry cell{2 * tile_.width + kPairGap, tile_.height + kLabelHeight};

  RgbImage sheet;
  sheet.geometry = {2 * kMargin + columns * cell.width + (columns > 1 ? columns - 1 : 0) * kGap,
                    2 * kMargin + rows * cell.height + (rows > 1 ? rows - 1 : 0) * kGap};
  sheet.pixels.resize(sheet.geometry.rgb_bytes());
  fill(sheet, kPaper);

  for (std::uint32_t i = 0; i < shown; ++i) {
    const Tile& tile = tiles_[shown > 1 ? i * (used - 1) / (shown - 1) : 0];
    const std::uint32_t x = kMargin + i % columns * (cell.width + kGap);
    const std::uint32_t y = kMargin + i / columns * (cell.height + kGap);
    draw_text(sheet, x, y, kTextScale, kInk, "frame " + std::to_string(tile.frame_id));
    paste_preview(sheet, x, y + kLabelHeight, tile_, tile.preview);
    paste_mask(sheet, x + tile_.width + kPairGap, y + kLabelHeight, tile_, tile.mask);
  }
  return sheet;
}

}  // namespace motion_watch
