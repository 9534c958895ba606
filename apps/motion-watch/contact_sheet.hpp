// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rgb_image.hpp"
#include "scene.hpp"

namespace motion_watch {

/// Collects a few frames, evenly spaced over a run of unknown length, and lays them out as one
/// picture: each tile shows the preview, its mask beside it, and the frame's number.
///
/// Every k-th frame is kept; when there is no room for the next one, every second tile is dropped
/// and k doubles. So a long run ends with 6 to 12 tiles. One thread at a time.
class ContactSheet {
 public:
  static constexpr std::size_t kMaxTiles = 12;

  /// Allocates everything that `add` needs. `preview` is the geometry of previews and masks;
  /// wide ones are kept at a fraction of their size.
  explicit ContactSheet(FrameGeometry preview);

  /// Whether the next `add` would keep its frame: it need not be called with real pixels if not,
  /// `skip` will do.
  bool wants_next() const { return seen_ % stride_ == 0; }
  void skip() { ++seen_; }

  /// Offers the next frame: `preview_rgb` has `preview.rgb_bytes()`, `mask` `preview.pixels()`.
  /// Copies what it keeps; never allocates or blocks.
  void add(std::uint64_t frame_id, std::span<const std::uint8_t> preview_rgb,
           std::span<const std::uint8_t> mask);

  /// The tiles kept so far.
  std::size_t size() const { return used_; }

  /// The sheet: whole rows of tiles, so some of the kept ones may be left out. Without a tile it
  /// is an empty sheet of margins. Allocates.
  RgbImage render() const;

 private:
  struct Tile {
    std::uint64_t frame_id = 0;
    std::vector<std::uint8_t> preview;
    std::vector<std::uint8_t> mask;
  };

  void thin_out();

  FrameGeometry source_;
  std::uint32_t reduction_;
  FrameGeometry tile_;
  std::vector<Tile> tiles_;
  std::size_t used_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t stride_ = 1;
};

}  // namespace motion_watch
