// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "event.hpp"
#include "frame_source.hpp"
#include "scene.hpp"

namespace motion_watch {

/// The whole job of motion-watch as one plain loop on one thread: no graph, no pool, no shared code
/// with the pixel steps. It is what the graph's results are compared with, bit by bit, and the
/// floor that its speed is measured against.
class PlainLoop {
 public:
  /// Allocates every buffer. `geometry` is that of the full-size frames.
  explicit PlainLoop(FrameGeometry geometry);

  /// Finds the moving regions of the next frame and fills every field of `event` but the capture
  /// time. `rgb` holds `geometry.rgb_bytes()`.
  void process(std::span<const std::uint8_t> rgb, MotionEvent& event);

  /// Draws the preview of the frame that `process` saw last, from the same pixels.
  void draw_preview(std::span<const std::uint8_t> rgb);

  /// Results for the last frame, all of half the frame's size; the preview is RGB.
  std::span<const std::uint8_t> gray() const { return gray_; }
  std::span<const std::uint8_t> raw_mask() const { return raw_mask_; }
  std::span<const std::uint8_t> mask() const { return mask_; }
  std::span<const std::uint8_t> preview() const { return preview_; }
  std::span<const std::uint16_t> background() const { return background_; }

 private:
  // In cells; `right` and `bottom` are the last ones inside.
  struct Region {
    std::size_t first_cell, cells, left, top, right, bottom;
  };

  void shrink_to_gray(std::span<const std::uint8_t> rgb);
  void follow_background();
  void clean();
  int set_around(std::size_t x, std::size_t y) const;
  void mark_cells();
  void find_regions();
  Region fill_region(std::size_t cell);
  Box box_around(const Region& region) const;

  std::size_t frame_width_, width_, height_;
  std::size_t cells_across_, cells_down_;
  std::uint64_t frames_ = 0;
  std::vector<std::uint8_t> gray_, raw_mask_, mask_, preview_;
  std::vector<std::uint16_t> background_;
  std::vector<bool> moves_;
  std::vector<std::size_t> to_visit_;
  std::vector<Region> regions_;
  std::vector<Box> boxes_;
};

/// Reads `source` to its end, or for `max_frames` frames if that is fewer, and makes events and
/// previews. Each event is handed to `on_event`, with the frame's media time as its capture time.
/// Returns the number of frames, or the error of the source.
tl::expected<std::uint64_t, std::string> run_plain_loop(
    FrameSource& source, std::uint64_t max_frames,
    const std::function<void(const MotionEvent&)>& on_event);

}  // namespace motion_watch
