// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "event.hpp"
#include "weftline/core/payload.hpp"

/// How `MotionEvent` is known to other processes. Boxes are written as numbers: x, y, w, h of each.
template <>
struct weftline::ChannelTypeIdentity<motion_watch::MotionEvent> {
  static constexpr std::string_view kName = "weftline.motion_watch.MotionEvent";
  static constexpr std::uint32_t kVersion = 1;
};

template <>
struct weftline::ChannelPodLayout<motion_watch::MotionEvent> {
  static constexpr std::array kFields{
      WEFTLINE_POD_FIELD(motion_watch::MotionEvent, frame_id),
      WEFTLINE_POD_FIELD(motion_watch::MotionEvent, capture_time_ns),
      WEFTLINE_POD_FIELD(motion_watch::MotionEvent, box_count),
      WEFTLINE_POD_FIELD(motion_watch::MotionEvent, total_regions),
      weftline::PodFieldSpec{"boxes", weftline::PodScalarKind::kUInt16,
                             offsetof(motion_watch::MotionEvent, boxes),
                             4 * motion_watch::kMaxBoxes},
  };
};
