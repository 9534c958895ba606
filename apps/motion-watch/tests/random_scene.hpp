// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "scene.hpp"

namespace motion_watch {

/// Random frames that have something for every pixel step: grain, and rectangles that come and go,
/// so that masks have clean areas, edges, single pixels and corners that touch.
class RandomScene {
 public:
  RandomScene(FrameGeometry geometry, std::uint32_t seed)
      : geometry_(geometry), random_(seed), rgb_(geometry.rgb_bytes()) {
    for (std::uint8_t& value : rgb_) value = static_cast<std::uint8_t>(random_());
  }

  /// The next frame; valid until the next call.
  const std::vector<std::uint8_t>& next() {
    const std::uint32_t rectangles = below(12);
    for (std::uint32_t i = 0; i < rectangles; ++i) paint_rectangle();
    for (std::size_t i = 0; i < rgb_.size() / 40; ++i) {
      rgb_[random_() % rgb_.size()] = static_cast<std::uint8_t>(random_());
    }
    return rgb_;
  }

 private:
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_()) % limit; }

  void paint_rectangle() {
    const std::uint32_t left = below(geometry_.width);
    const std::uint32_t top = below(geometry_.height);
    const std::uint32_t right = left + 1 + below(geometry_.width - left);
    const std::uint32_t bottom = top + 1 + below(geometry_.height - top);
    const auto level = static_cast<std::uint8_t>(random_());
    for (std::uint32_t y = top; y < bottom; ++y) {
      for (std::size_t i = (std::size_t{y} * geometry_.width + left) * 3;
           i < (std::size_t{y} * geometry_.width + right) * 3; ++i) {
        rgb_[i] = level;
      }
    }
  }

  FrameGeometry geometry_;
  std::mt19937 random_;
  std::vector<std::uint8_t> rgb_;
};

/// Sizes at which a pixel step may go wrong: sides of one, odd sides, sides around the size of a
/// cell and of a block of work, and some in the middle.
inline std::vector<FrameGeometry> awkward_sizes() {
  std::vector<FrameGeometry> sizes = {
      {1, 1},    {1, 2},     {2, 1},    {2, 2},    {3, 3},    {1, 97},    {97, 1},    {2, 97},
      {97, 2},   {5, 7},     {15, 15},  {16, 16},  {17, 17},  {18, 18},   {33, 31},   {64, 48},
      {127, 65}, {160, 120}, {1022, 6}, {1023, 9}, {1024, 6}, {1026, 20}, {2052, 34}, {2100, 5}};
  std::mt19937 random(7);
  for (int i = 0; i < 12; ++i) {
    sizes.push_back({1 + static_cast<std::uint32_t>(random() % 300),
                     1 + static_cast<std::uint32_t>(random() % 200)});
  }
  return sizes;
}

}  // namespace motion_watch
