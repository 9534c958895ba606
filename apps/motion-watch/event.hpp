// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "motion_boxes.hpp"

namespace motion_watch {

/// What leaves the process for every frame. A plain record with a fixed layout and no padding,
/// so that its bytes can be sent and compared as they are.
struct MotionEvent {
  std::uint64_t frame_id = 0;        ///< Frames of the source, counted from 0.
  std::int64_t capture_time_ns = 0;  ///< When the source captured the frame.
  std::uint32_t box_count = 0;       ///< How many of `boxes` are set.
  std::uint32_t total_regions =
      0;                 ///< Every region found; more than `box_count` if some did not fit.
  Box boxes[kMaxBoxes];  ///< Largest first; unused ones are zero.

  friend constexpr bool operator==(const MotionEvent&, const MotionEvent&) = default;
};

static_assert(std::is_trivially_copyable_v<MotionEvent>);
static_assert(std::is_standard_layout_v<MotionEvent>);
static_assert(std::has_unique_object_representations_v<MotionEvent>);
static_assert(sizeof(MotionEvent) == 152);
static_assert(offsetof(MotionEvent, boxes) == 24);

}  // namespace motion_watch
