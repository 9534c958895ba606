// SPDX-License-Identifier: Apache-2.0
#include "synthetic_scene.hpp"

#include <algorithm>

namespace motion_watch {
namespace {

constexpr std::uint32_t kWidth = SyntheticScene::kGeometry.width;
constexpr std::uint32_t kHeight = SyntheticScene::kGeometry.height;

struct Mover {
  std::uint32_t width, height;
  std::uint32_t start_x, start_y;
  std::uint32_t speed_x, speed_y;  // pixels per frame
  std::uint8_t colour[3];
};

constexpr Mover kMovers[] = {
    {48, 96, 20, 60, 3, 0, {222, 84, 62}},     {64, 40, 500, 300, 5, 2, {62, 142, 222}},
    {32, 72, 300, 10, 0, 4, {236, 196, 72}},   {80, 80, 120, 340, 2, 1, {96, 190, 112}},
    {24, 24, 400, 200, 7, 5, {232, 232, 236}}, {56, 112, 560, 120, 1, 3, {172, 92, 200}},
};

// To and fro between 0 and `range`.
std::uint32_t bounce(std::uint64_t travelled, std::uint64_t range) {
  const std::uint64_t phase = travelled % (2 * range);
  return static_cast<std::uint32_t>(phase <= range ? phase : 2 * range - phase);
}

// A gradient with grain. Only its look matters, so any mixing function does.
std::uint8_t texture(std::uint32_t x, std::uint32_t y, std::uint32_t channel) {
  std::uint32_t grain = (x / 2) * 0x9e3779b1u ^ (y / 2) * 0x85ebca6bu;
  grain ^= grain >> 15;
  grain *= 0x2c1b3c6du;
  grain ^= grain >> 12;
  return static_cast<std::uint8_t>(48 + channel * 10 + y * 64 / kHeight + x * 24 / kWidth +
                                   grain % 12);
}

void draw(const Mover& mover, std::uint64_t frame, std::span<std::uint8_t> rgb) {
  const std::uint32_t x = bounce(mover.start_x + frame * mover.speed_x, kWidth - mover.width);
  const std::uint32_t y = bounce(mover.start_y + frame * mover.speed_y, kHeight - mover.height);
  for (std::uint32_t row = y; row < y + mover.height; ++row) {
    std::uint8_t* pixel = rgb.data() + (std::size_t{row} * kWidth + x) * 3;
    for (std::uint32_t i = 0; i < mover.width; ++i, pixel += 3) {
      std::copy_n(mover.colour, 3, pixel);
    }
  }
}

}  // namespace

SyntheticScene::SyntheticScene(std::uint64_t frames) : frames_(frames) {
  background_.reserve(kGeometry.rgb_bytes());
  for (std::uint32_t y = 0; y < kHeight; ++y) {
    for (std::uint32_t x = 0; x < kWidth; ++x) {
      for (std::uint32_t channel = 0; channel < 3; ++channel) {
        background_.push_back(texture(x, y, channel));
      }
    }
  }
}

tl::expected<bool, std::string> SyntheticScene::read_into(std::span<std::uint8_t> rgb) {
  if (rgb.size() != background_.size()) {
    return tl::unexpected("synthetic scene: the buffer holds " + std::to_string(rgb.size()) +
                          " bytes, a frame " + std::to_string(background_.size()) +
                          "; pass a buffer of geometry().rgb_bytes()");
  }
  if (next_ == frames_) return false;
  std::copy(background_.begin(), background_.end(), rgb.begin());
  for (const Mover& mover : kMovers) draw(mover, next_, rgb);
  ++next_;
  return true;
}

}  // namespace motion_watch
