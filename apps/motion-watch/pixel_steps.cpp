// SPDX-License-Identifier: Apache-2.0
#include "pixel_steps.hpp"

#include <algorithm>
#include <cstring>

#include "pixel_math.hpp"

namespace motion_watch {
namespace {

// Rows are worked on in blocks whose intermediate values stay in the first-level cache.
constexpr std::size_t kBlock = 512;

[[gnu::always_inline]] inline void gray_row(const std::uint8_t* rgb, std::size_t width,
                                            std::uint8_t* gray) {
  for (std::size_t x = 0; x < width; ++x) {
    gray[x] = gray_of(rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2]);
  }
}

[[gnu::always_inline]] inline void halve_rows(const std::uint8_t* upper, const std::uint8_t* lower,
                                              std::size_t half_width, std::uint8_t* out) {
  for (std::size_t x = 0; x < half_width; ++x) {
    out[x] = mean_of_four(upper[2 * x], upper[2 * x + 1], lower[2 * x], lower[2 * x + 1]);
  }
}

[[gnu::always_inline]] inline void gray_half_rows(const std::uint8_t* rgb, FrameGeometry frame,
                                                  std::uint8_t* gray) {
  const FrameGeometry half = frame.half();
  const std::size_t stride = std::size_t{frame.width} * 3;
  std::uint8_t upper[2 * kBlock];
  std::uint8_t lower[2 * kBlock];
  for (std::size_t y = 0; y < half.height; ++y) {
    const std::uint8_t* row = rgb + 2 * y * stride;
    std::uint8_t* out = gray + y * half.width;
    for (std::size_t x = 0; x < half.width; x += kBlock) {
      const std::size_t n = std::min(kBlock, half.width - x);
      gray_row(row + 6 * x, 2 * n, upper);
      gray_row(row + 6 * x + stride, 2 * n, lower);
      halve_rows(upper, lower, n, out + x);
    }
  }
}

// Packed RGB needs byte shuffles, which the x86-64 baseline lacks: without them this step would
// take four times as long.
#if defined(__x86_64__)
[[gnu::target("avx2")]] void gray_half_avx2(const std::uint8_t* rgb, FrameGeometry frame,
                                            std::uint8_t* gray) {
  gray_half_rows(rgb, frame, gray);
}
#endif

void add_set_pixels(const std::uint8_t* mask, std::size_t count, std::uint8_t* sums) {
  for (std::size_t i = 0; i < count; ++i)
    sums[i] = static_cast<std::uint8_t>(sums[i] + (mask[i] & 1u));
}

// The mean of each 2 x 2 block of RGB pixels.
void halve_rgb_rows(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t half_width,
                    std::uint8_t* out) {
  // The mean is made at every byte, which vectorizes; every second pixel of it is wanted.
  std::uint16_t sums[6 * kBlock];
  std::uint8_t means[6 * kBlock];
  for (std::size_t x = 0; x < half_width; x += kBlock) {
    const std::size_t bytes = 6 * std::min(kBlock, half_width - x);
    for (std::size_t i = 0; i < bytes; ++i) {
      sums[i] = static_cast<std::uint16_t>(upper[6 * x + i] + lower[6 * x + i]);
    }
    for (std::size_t i = 0; i + 3 < bytes; ++i) {
      means[i] = static_cast<std::uint8_t>((sums[i] + sums[i + 3] + 2) >> 2);
    }
    for (std::size_t i = 0; i < bytes; i += 6) std::memcpy(out + 3 * x + i / 2, means + i, 3);
  }
}

void put(std::uint8_t* pixel, Colour colour) {
  pixel[0] = colour.r;
  pixel[1] = colour.g;
  pixel[2] = colour.b;
}

void draw_outline(const Box& box, FrameGeometry half, std::uint8_t* preview) {
  const std::uint32_t left = box.x / 2u;
  const std::uint32_t right = left + box.w / 2u;
  const std::uint32_t top = box.y / 2u;
  const std::uint32_t bottom = top + box.h / 2u;
  for (std::uint32_t y = top; y < bottom; ++y) {
    std::uint8_t* row = preview + 3 * std::size_t{y} * half.width;
    const auto draw = [&](std::uint32_t from, std::uint32_t to) {
      for (std::uint32_t x = from; x < to; ++x) put(row + 3 * std::size_t{x}, kOutlineColour);
    };
    if (y - top < kOutlineWidth || bottom - y <= kOutlineWidth || box.w / 2u <= 2 * kOutlineWidth) {
      draw(left, right);
    } else {
      draw(left, left + kOutlineWidth);
      draw(right - kOutlineWidth, right);
    }
  }
}

// A forest over the cells: `label` is the parent, a root is its own. Parents have lower indices.
std::uint32_t root_of(CellRegion* work, std::uint32_t cell) {
  while (work[cell].label != cell) {
    work[cell].label = work[work[cell].label].label;
    cell = work[cell].label;
  }
  return cell;
}

void join(CellRegion* work, std::uint32_t a, std::uint32_t b) {
  a = root_of(work, a);
  b = root_of(work, b);
  work[std::max(a, b)].label = std::min(a, b);
}

// Keeps the kMaxBoxes regions of highest rank, in order.
class LargestRegions {
 public:
  void offer(const CellRegion& region) {
    std::size_t place = size_;
    while (place > 0 && rank_of(region) > rank_of(*kept_[place - 1])) --place;
    if (place == kMaxBoxes) return;
    if (size_ < kMaxBoxes) ++size_;
    for (std::size_t i = size_ - 1; i > place; --i) kept_[i] = kept_[i - 1];
    kept_[place] = &region;
  }

  std::size_t size() const { return size_; }
  const CellRegion& operator[](std::size_t i) const { return *kept_[i]; }

 private:
  const CellRegion* kept_[kMaxBoxes] = {};
  std::size_t size_ = 0;
};

}  // namespace

void gray_half_host(const std::uint8_t* rgb, FrameGeometry frame, std::uint8_t* gray) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return gray_half_avx2(rgb, frame, gray);
#endif
  gray_half_rows(rgb, frame, gray);
}

void motion_update_host(const std::uint8_t* gray, FrameGeometry frame, bool first,
                        std::uint16_t* background, std::uint8_t* mask) {
  const std::size_t pixels = frame.half().pixels();
  if (first) {
    for (std::size_t i = 0; i < pixels; ++i) background[i] = initial_background(gray[i]);
    std::fill_n(mask, pixels, std::uint8_t{0});
    return;
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    mask[i] = motion_of(gray[i], background[i]);
    background[i] = next_background(gray[i], background[i]);
  }
}

void clean_mask_host(const std::uint8_t* mask, FrameGeometry frame, std::uint8_t* cleaned) {
  const std::size_t width = frame.half().width;
  const std::size_t height = frame.half().height;
  // columns[i] is how many pixels are set in the column x + i - 1 of three rows.
  std::uint8_t columns[kBlock + 2];
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; x += kBlock) {
      const std::size_t n = std::min(kBlock, width - x);
      const std::size_t from = x > 0 ? x - 1 : 0;
      const std::size_t to = std::min(x + n + 1, width);
      columns[0] = 0;
      columns[n + 1] = 0;
      std::uint8_t* sums = columns + (from + 1 - x);
      const std::uint8_t* row = mask + y * width + from;
      for (std::size_t i = 0; i < to - from; ++i) sums[i] = row[i] & 1u;
      if (y > 0) add_set_pixels(row - width, to - from, sums);
      if (y + 1 < height) add_set_pixels(row + width, to - from, sums);

      std::uint8_t* out = cleaned + y * width + x;
      for (std::size_t i = 0; i < n; ++i) {
        out[i] = majority_of(unsigned{columns[i]} + columns[i + 1] + columns[i + 2]);
      }
    }
  }
}

void cell_counts_host(const std::uint8_t* mask, FrameGeometry frame, std::uint8_t* counts) {
  const FrameGeometry half = frame.half();
  const FrameGeometry grid = cell_grid(frame);
  for (std::uint32_t cell_y = 0; cell_y < grid.height; ++cell_y) {
    const std::uint32_t top = cell_y * kCellSide;
    const std::uint32_t bottom = std::min(top + kCellSide, half.height);
    for (std::uint32_t cell_x = 0; cell_x < grid.width; ++cell_x) {
      const std::uint32_t left = cell_x * kCellSide;
      const std::uint32_t width = std::min(kCellSide, half.width - left);
      // Eight pixels at a time, a sum in each byte.
      std::uint64_t sums = 0;
      for (std::uint32_t y = top; y < bottom; ++y) {
        std::uint64_t pixels = 0;
        std::memcpy(&pixels, mask + std::size_t{y} * half.width + left, width);
        sums += pixels & 0x0101010101010101u;
      }
      *counts++ = static_cast<std::uint8_t>((sums * 0x0101010101010101u) >> 56);
    }
  }
}

void label_boxes_host(const std::uint8_t* counts, FrameGeometry frame, CellRegion* work,
                      MotionBoxes* boxes) {
  const FrameGeometry grid = cell_grid(frame);
  const auto moves = [&](std::uint32_t cell) { return counts[cell] >= kCellMinimum; };

  for (std::uint32_t y = 0, cell = 0; y < grid.height; ++y) {
    for (std::uint32_t x = 0; x < grid.width; ++x, ++cell) {
      work[cell] = {cell, 0, x, y, x, y};
      if (!moves(cell)) continue;
      const auto touch = [&](std::uint32_t neighbour) {
        if (moves(neighbour)) join(work, cell, neighbour);
      };
      if (x > 0) touch(cell - 1);
      if (y == 0) continue;
      if (x > 0) touch(cell - grid.width - 1);
      touch(cell - grid.width);
      if (x + 1 < grid.width) touch(cell - grid.width + 1);
    }
  }

  for (std::uint32_t y = 0, cell = 0; y < grid.height; ++y) {
    for (std::uint32_t x = 0; x < grid.width; ++x, ++cell) {
      if (!moves(cell)) continue;
      CellRegion& region = work[root_of(work, cell)];
      ++region.area;
      region.min_x = std::min(region.min_x, x);
      region.max_x = std::max(region.max_x, x);
      region.max_y = y;
    }
  }

  *boxes = {};
  LargestRegions largest;
  for (std::uint32_t cell = 0; cell < grid.pixels(); ++cell) {
    if (work[cell].area == 0) continue;
    ++boxes->total;
    largest.offer(work[cell]);
  }
  boxes->count = static_cast<std::uint32_t>(largest.size());
  for (std::size_t i = 0; i < largest.size(); ++i) boxes->boxes[i] = box_of(largest[i], frame);
}

void overlay_host(const std::uint8_t* rgb, FrameGeometry frame, const std::uint8_t* mask,
                  const MotionBoxes* boxes, std::uint8_t* preview) {
  const FrameGeometry half = frame.half();
  const std::size_t stride = std::size_t{frame.width} * 3;
  for (std::size_t y = 0; y < half.height; ++y) {
    const std::uint8_t* upper = rgb + 2 * y * stride;
    const std::uint8_t* lower = upper + stride;
    const std::uint8_t* set = mask + y * half.width;
    std::uint8_t* out = preview + y * half.width * 3;
    halve_rgb_rows(upper, lower, half.width, out);
    for (std::size_t x = 0; x < half.width; ++x) {
      if (set[x] == 0) continue;
      std::uint8_t* pixel = out + 3 * x;
      put(pixel, {tinted(pixel[0], kTintColour.r), tinted(pixel[1], kTintColour.g),
                  tinted(pixel[2], kTintColour.b)});
    }
  }
  for (std::uint32_t i = 0; i < boxes->count; ++i) draw_outline(boxes->boxes[i], half, preview);
}

}  // namespace motion_watch
