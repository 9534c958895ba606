// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "pixel_steps.hpp"

namespace motion_watch {

/// The host form of every pixel step, one after the other, with the results of the last frame.
struct HostSteps {
  explicit HostSteps(FrameGeometry geometry)
      : frame(geometry),
        gray(frame.half().pixels()),
        raw_mask(frame.half().pixels()),
        mask(frame.half().pixels()),
        preview(frame.half().rgb_bytes()),
        background(frame.half().pixels()),
        counts(cell_grid(frame).pixels()),
        work(cell_grid(frame).pixels()) {}

  void run(const std::uint8_t* rgb) {
    gray_half_host(rgb, frame, gray.data());
    motion_update_host(gray.data(), frame, first, background.data(), raw_mask.data());
    first = false;
    clean_mask_host(raw_mask.data(), frame, mask.data());
    cell_counts_host(mask.data(), frame, counts.data());
    label_boxes_host(counts.data(), frame, work.data(), &boxes);
    overlay_host(rgb, frame, mask.data(), &boxes, preview.data());
  }

  FrameGeometry frame;
  bool first = true;
  std::vector<std::uint8_t> gray, raw_mask, mask, preview;
  std::vector<std::uint16_t> background;
  std::vector<std::uint8_t> counts;
  std::vector<CellRegion> work;
  MotionBoxes boxes;
};

}  // namespace motion_watch
