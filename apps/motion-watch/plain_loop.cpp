// SPDX-License-Identifier: Apache-2.0
#include "plain_loop.hpp"

#include <algorithm>

namespace motion_watch {
namespace {

int luma(const std::uint8_t* pixel) {
  return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) / 256;
}

}  // namespace

PlainLoop::PlainLoop(FrameGeometry geometry)
    : frame_width_(geometry.width),
      width_(geometry.width / 2),
      height_(geometry.height / 2),
      cells_across_((width_ + 7) / 8),
      cells_down_((height_ + 7) / 8),
      gray_(width_ * height_),
      raw_mask_(width_ * height_),
      mask_(width_ * height_),
      preview_(width_ * height_ * 3),
      background_(width_ * height_),
      moves_(cells_across_ * cells_down_) {
  to_visit_.reserve(moves_.size());
  regions_.reserve(moves_.size());
  boxes_.reserve(kMaxBoxes);
}

void PlainLoop::process(std::span<const std::uint8_t> rgb, MotionEvent& event) {
  shrink_to_gray(rgb);
  follow_background();
  clean();
  mark_cells();
  find_regions();

  event = {};
  event.frame_id = frames_++;
  event.box_count = static_cast<std::uint32_t>(boxes_.size());
  event.total_regions = static_cast<std::uint32_t>(regions_.size());
  std::copy(boxes_.begin(), boxes_.end(), event.boxes);
}

void PlainLoop::shrink_to_gray(std::span<const std::uint8_t> rgb) {
  std::uint8_t* gray = gray_.data();
  for (std::size_t y = 0; y < height_; ++y) {
    const std::uint8_t* upper = rgb.data() + 3 * frame_width_ * 2 * y;
    const std::uint8_t* lower = upper + 3 * frame_width_;
    for (std::size_t x = 0; x < width_; ++x, upper += 6, lower += 6) {
      const int sum = luma(upper) + luma(upper + 3) + luma(lower) + luma(lower + 3);
      *gray++ = static_cast<std::uint8_t>((sum + 2) / 4);
    }
  }
}

void PlainLoop::follow_background() {
  const std::uint8_t* gray = gray_.data();
  std::uint16_t* background = background_.data();
  std::uint8_t* mask = raw_mask_.data();
  const std::size_t pixels = gray_.size();
  if (frames_ == 0) {
    for (std::size_t i = 0; i < pixels; ++i) {
      background[i] = static_cast<std::uint16_t>(gray[i] * 256);
    }
  }
  for (std::size_t i = 0; i < pixels; ++i) {
    const int now = gray[i] * 256;
    const int before = background[i];
    const int away = gray[i] - before / 256;
    mask[i] = away > 24 || away < -24 ? 255 : 0;
    background[i] = static_cast<std::uint16_t>(before + ((now - before) >> 4));
  }
}

void PlainLoop::clean() {
  const std::uint8_t* raw = raw_mask_.data();
  std::uint8_t* cleaned = mask_.data();
  const std::size_t width = width_;
  for (std::size_t y = 0; y < height_; ++y) {
    const bool edge_row = y == 0 || y + 1 == height_;
    for (std::size_t x = 0; x < width; ++x) {
      if (edge_row || x == 0 || x + 1 == width) {
        cleaned[y * width + x] = set_around(x, y) >= 5 ? 255 : 0;
        continue;
      }
      const std::uint8_t* p = raw + y * width + x;
      const std::uint8_t* above = p - width;
      const std::uint8_t* below = p + width;
      const int sum =
          above[-1] + above[0] + above[1] + p[-1] + p[0] + p[1] + below[-1] + below[0] + below[1];
      cleaned[y * width + x] = sum >= 5 * 255 ? 255 : 0;
    }
  }
}

int PlainLoop::set_around(std::size_t x, std::size_t y) const {
  int set = 0;
  for (std::size_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < height_; ++v) {
    for (std::size_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < width_; ++u) {
      set += raw_mask_[v * width_ + u] / 255;
    }
  }
  return set;
}

void PlainLoop::mark_cells() {
  for (std::size_t cell = 0; cell < moves_.size(); ++cell) {
    const std::size_t left = cell % cells_across_ * 8;
    const std::size_t top = cell / cells_across_ * 8;
    int set = 0;
    for (std::size_t y = top; y < top + 8 && y < height_; ++y) {
      for (std::size_t x = left; x < left + 8 && x < width_; ++x) {
        set += mask_[y * width_ + x] & 1;
      }
    }
    moves_[cell] = set >= 8;
  }
}

void PlainLoop::find_regions() {
  regions_.clear();
  for (std::size_t cell = 0; cell < moves_.size(); ++cell) {
    if (moves_[cell]) regions_.push_back(fill_region(cell));
  }
  std::sort(regions_.begin(), regions_.end(), [](const Region& a, const Region& b) {
    return a.cells != b.cells ? a.cells > b.cells : a.first_cell < b.first_cell;
  });
  boxes_.clear();
  for (std::size_t i = 0; i < regions_.size() && i < kMaxBoxes; ++i) {
    boxes_.push_back(box_around(regions_[i]));
  }
}

PlainLoop::Region PlainLoop::fill_region(std::size_t first) {
  Region region{first, 0, cells_across_, cells_down_, 0, 0};
  to_visit_.assign(1, first);
  moves_[first] = false;
  while (!to_visit_.empty()) {
    const std::size_t x = to_visit_.back() % cells_across_;
    const std::size_t y = to_visit_.back() / cells_across_;
    to_visit_.pop_back();
    ++region.cells;
    region.left = std::min(region.left, x);
    region.top = std::min(region.top, y);
    region.right = std::max(region.right, x);
    region.bottom = std::max(region.bottom, y);
    for (std::size_t v = y > 0 ? y - 1 : 0; v <= y + 1 && v < cells_down_; ++v) {
      for (std::size_t u = x > 0 ? x - 1 : 0; u <= x + 1 && u < cells_across_; ++u) {
        const std::size_t neighbour = v * cells_across_ + u;
        if (!moves_[neighbour]) continue;
        moves_[neighbour] = false;
        to_visit_.push_back(neighbour);
      }
    }
  }
  return region;
}

Box PlainLoop::box_around(const Region& region) const {
  const std::size_t right = std::min((region.right + 1) * 8, width_);
  const std::size_t bottom = std::min((region.bottom + 1) * 8, height_);
  return {static_cast<std::uint16_t>(region.left * 16), static_cast<std::uint16_t>(region.top * 16),
          static_cast<std::uint16_t>((right - region.left * 8) * 2),
          static_cast<std::uint16_t>((bottom - region.top * 8) * 2)};
}

void PlainLoop::draw_preview(std::span<const std::uint8_t> rgb) {
  constexpr int kTint[3] = {0, 208, 190};
  constexpr std::uint8_t kOutline[3] = {255, 184, 28};
  for (std::size_t y = 0; y < height_; ++y) {
    for (std::size_t x = 0; x < width_; ++x) {
      const std::size_t here = y * width_ + x;
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint8_t* upper = rgb.data() + 3 * (2 * y * frame_width_ + 2 * x) + c;
        const std::uint8_t* lower = upper + 3 * frame_width_;
        const int mean = (upper[0] + upper[3] + lower[0] + lower[3] + 2) / 4;
        preview_[3 * here + c] =
            static_cast<std::uint8_t>(mask_[here] != 0 ? (mean + kTint[c] + 1) / 2 : mean);
      }
    }
  }
  for (const Box& box : boxes_) {
    const std::size_t left = box.x / 2, top = box.y / 2;
    const std::size_t right = left + box.w / 2, bottom = top + box.h / 2;
    for (std::size_t y = top; y < bottom; ++y) {
      for (std::size_t x = left; x < right; ++x) {
        if (x < left + 2 || x + 2 >= right || y < top + 2 || y + 2 >= bottom) {
          std::copy_n(kOutline, 3, &preview_[3 * (y * width_ + x)]);
        }
      }
    }
  }
}

tl::expected<std::uint64_t, std::string> run_plain_loop(
    FrameSource& source, std::uint64_t max_frames,
    const std::function<void(const MotionEvent&)>& on_event) {
  PlainLoop loop(source.geometry());
  std::vector<std::uint8_t> rgb(source.geometry().rgb_bytes());
  MotionEvent event;
  std::uint64_t frames = 0;
  for (; frames < max_frames; ++frames) {
    const tl::expected<bool, std::string> more = source.read_into(rgb);
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    loop.process(rgb, event);
    event.capture_time_ns = media_time_ns(event.frame_id, source.frame_rate());
    loop.draw_preview(rgb);
    on_event(event);
  }
  return frames;
}

}  // namespace motion_watch
