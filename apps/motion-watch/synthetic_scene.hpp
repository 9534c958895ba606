// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "frame_source.hpp"

namespace motion_watch {

/// A scene without a file: coloured rectangles that move over a textured background, 640 x 480 at
/// 30 frames per second. Frame n has the same bytes on every machine and in every run.
class SyntheticScene final : public FrameSource {
 public:
  static constexpr FrameGeometry kGeometry{640, 480};
  static constexpr FrameRate kRate{30, 1};

  /// Allocates the background; `frames` may be 0.
  explicit SyntheticScene(std::uint64_t frames);

  FrameGeometry geometry() const override { return kGeometry; }
  FrameRate frame_rate() const override { return kRate; }
  tl::expected<bool, std::string> read_into(std::span<std::uint8_t> rgb) override;

 private:
  std::vector<std::uint8_t> background_;
  std::uint64_t frames_;
  std::uint64_t next_ = 0;
};

}  // namespace motion_watch
