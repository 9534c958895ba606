// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "rgb_image.hpp"

namespace motion_watch {

/// The bytes of a PNG file with this picture, 8 bits per channel. Allocates. An image without
/// pixels, or with another number of them than its geometry says, is an error.
tl::expected<std::string, std::string> encode_png(const RgbImage& image);

}  // namespace motion_watch
