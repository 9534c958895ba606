// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace motion_watch {

/// The most boxes that one frame reports.
inline constexpr std::size_t kMaxBoxes = 16;

/// A rectangle in pixels of the full-size frame; (x, y) is its top left corner.
struct Box {
  std::uint16_t x = 0;
  std::uint16_t y = 0;
  std::uint16_t w = 0;
  std::uint16_t h = 0;

  friend constexpr bool operator==(const Box&, const Box&) = default;
};

/// The moving regions of one frame. `boxes[0, count)` are the largest, in the order that
/// `label_boxes_host` defines; the rest of the array is zero. `total` counts every region found.
struct MotionBoxes {
  std::uint32_t count = 0;
  std::uint32_t total = 0;
  Box boxes[kMaxBoxes];

  friend constexpr bool operator==(const MotionBoxes&, const MotionBoxes&) = default;
};

static_assert(std::is_trivially_copyable_v<MotionBoxes>);
static_assert(sizeof(Box) == 8);
static_assert(sizeof(MotionBoxes) == 8 + kMaxBoxes * sizeof(Box));

}  // namespace motion_watch
