// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "rgb_image.hpp"

namespace motion_watch {

/// The bytes of a PNG file with this picture, 8 bits per channel. Allocates. An image without
/// pixels, or with another number of them than its geometry says, is an error.
tl::expected<std::string, std::string> encode_png(const RgbImage& image);

/// Writes the picture as a PNG file, wholly or not at all. Blocks. The error is one line.
tl::expected<void, std::string> write_png(const std::filesystem::path& path, const RgbImage& image);

}  // namespace motion_watch
