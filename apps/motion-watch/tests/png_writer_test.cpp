// SPDX-License-Identifier: Apache-2.0
#include "png_writer.hpp"

#include <png.h>

#include <catch2/catch_test_macros.hpp>
#include <random>

namespace motion_watch {
namespace {

RgbImage random_image(FrameGeometry geometry) {
  std::mt19937 random(1);
  RgbImage image{geometry, std::vector<std::uint8_t>(geometry.rgb_bytes())};
  for (std::uint8_t& value : image.pixels) value = static_cast<std::uint8_t>(random());
  return image;
}

RgbImage decode(const std::string& bytes) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  REQUIRE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) != 0);
  png.format = PNG_FORMAT_RGB;
  RgbImage image{{png.width, png.height}, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(png))};
  REQUIRE(png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) != 0);
  return image;
}

}  // namespace

TEST_CASE("a PNG gives back the pixels that went in") {
  for (const FrameGeometry size :
       {FrameGeometry{1, 1}, FrameGeometry{37, 11}, FrameGeometry{256, 3}}) {
    CAPTURE(size.width, size.height);
    const RgbImage image = random_image(size);
    const auto png = encode_png(image);
    REQUIRE(png.has_value());
    const RgbImage decoded = decode(*png);
    CHECK(decoded.geometry == size);
    CHECK(decoded.pixels == image.pixels);
  }
}

TEST_CASE("a picture whose pixels don't fit its size is refused") {
  RgbImage image = random_image({20, 10});
  image.pixels.pop_back();
  const auto png = encode_png(image);
  REQUIRE_FALSE(png.has_value());
  CHECK(png.error().find("20 x 10 pixels with 599 bytes") != std::string::npos);
  CHECK_FALSE(encode_png(RgbImage{}).has_value());
}

}  // namespace motion_watch
