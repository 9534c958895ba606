// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>

#include "frame_source.hpp"

namespace motion_watch {

/// A video file, read through the FFmpeg libraries. The same file gives the same bytes on every
/// processor. A frame that FFmpeg reports as damaged is an error; its guess at the picture is not
/// used.
///
/// Uses no thread of its own. Opening any file redirects FFmpeg's log for the whole process:
/// nothing is printed, and what it said about a failure becomes part of the error.
class VideoSource final : public FrameSource {
 public:
  /// Opens the file and decodes its first frame. Blocks. The error is one line: the file, what is
  /// wrong (missing, not a regular file, no video, no video stream, no decoder, no conversion to
  /// RGB, damaged) and what to do. Only local files are opened, also where a file refers to others.
  static tl::expected<VideoSource, std::string> open(const std::filesystem::path& path);

  VideoSource(VideoSource&&) noexcept;
  VideoSource& operator=(VideoSource&&) noexcept;
  ~VideoSource() override;

  FrameGeometry geometry() const override;

  /// 25 per second where the file does not say.
  FrameRate frame_rate() const override;

  /// Decodes straight into `rgb`. A file that was cut off ends in an error that names the frame,
  /// unless the cut fell exactly between two frames of a format that does not notice it.
  tl::expected<bool, std::string> read_into(std::span<std::uint8_t> rgb) override;

 private:
  struct Decoder;
  explicit VideoSource(std::unique_ptr<Decoder> decoder);

  std::unique_ptr<Decoder> decoder_;
};

}  // namespace motion_watch
