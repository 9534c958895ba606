// SPDX-License-Identifier: Apache-2.0
#include "png_writer.hpp"

#include <png.h>

namespace motion_watch {

tl::expected<std::string, std::string> encode_png(const RgbImage& image) {
  const FrameGeometry geometry = image.geometry;
  if (geometry.pixels() == 0 || image.pixels.size() != geometry.rgb_bytes()) {
    return tl::unexpected("a picture of " + std::to_string(geometry.width) + " x " +
                          std::to_string(geometry.height) + " pixels with " +
                          std::to_string(image.pixels.size()) + " bytes can't be a PNG; it needs " +
                          "both sides positive and 3 bytes per pixel");
  }
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = geometry.width;
  png.height = geometry.height;
  png.format = PNG_FORMAT_RGB;

  std::string bytes(PNG_IMAGE_PNG_SIZE_MAX(png), '\0');
  png_alloc_size_t size = bytes.size();
  constexpr int kConvertTo8Bit = 0;
  constexpr png_int_32 kPackedRows = 0;
  if (png_image_write_to_memory(&png, bytes.data(), &size, kConvertTo8Bit, image.pixels.data(),
                                kPackedRows, nullptr) == 0) {
    return tl::unexpected(std::string("libpng can't encode the picture: ") + png.message);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace motion_watch
