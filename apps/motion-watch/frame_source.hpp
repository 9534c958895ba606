// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "scene.hpp"

namespace motion_watch {

/// Frames per second as an exact fraction; both parts are positive.
struct FrameRate {
  std::int64_t num = 1;
  std::int64_t den = 1;

  friend constexpr bool operator==(const FrameRate&, const FrameRate&) = default;
};

/// When frame `frame_id` (from 0) is due, counted from the first frame, rounded down.
/// Fits for streams of up to 100 years.
constexpr std::int64_t media_time_ns(std::uint64_t frame_id, FrameRate rate) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const auto scaled = static_cast<std::int64_t>(frame_id) * rate.den;
  return scaled / rate.num * kSecond + scaled % rate.num * kSecond / rate.num;
}

/// Where frames come from. One thread at a time; every method but `read_into` is cheap.
class FrameSource {
 public:
  virtual ~FrameSource() = default;

  /// The size of every frame; fixed for the life of the source.
  virtual FrameGeometry geometry() const = 0;
  virtual FrameRate frame_rate() const = 0;

  /// Writes the next frame as packed RGB into `rgb`, which holds exactly `geometry().rgb_bytes()`.
  /// True if there was a frame, false at the end of the source (and ever after). An error is one
  /// line that names the frame; the source is then at its end, and `rgb` holds nothing of use.
  /// Blocks for the time of reading and decoding.
  virtual tl::expected<bool, std::string> read_into(std::span<std::uint8_t> rgb) = 0;

 protected:
  FrameSource() = default;
  FrameSource(const FrameSource&) = default;
  FrameSource(FrameSource&&) = default;
  FrameSource& operator=(const FrameSource&) = default;
  FrameSource& operator=(FrameSource&&) = default;
};

}  // namespace motion_watch
