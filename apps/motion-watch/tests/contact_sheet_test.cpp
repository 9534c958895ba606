// SPDX-License-Identifier: Apache-2.0
#include "contact_sheet.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "bitmap_font.hpp"

namespace motion_watch {
namespace {

// Adds frames whose pixels all have the value of the frame's number.
void add_frames(ContactSheet& sheet, FrameGeometry size, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t id = from; id < to; ++id) {
    const std::vector<std::uint8_t> preview(size.rgb_bytes(), static_cast<std::uint8_t>(id));
    const std::vector<std::uint8_t> mask(size.pixels(), id % 2 == 0 ? 255 : 0);
    sheet.add(id, preview, mask);
  }
}

// Whether some row of the image holds a run of `length` pixels of this gray.
bool shows(const RgbImage& image, std::uint8_t gray, std::size_t length) {
  const std::vector<std::uint8_t> run(3 * length, gray);
  return std::search(image.pixels.begin(), image.pixels.end(), run.begin(), run.end()) !=
         image.pixels.end();
}

}  // namespace

TEST_CASE("a contact sheet keeps every frame of a short run, and at most twelve of a long one") {
  const FrameGeometry size{20, 10};
  ContactSheet sheet(size);
  CHECK(sheet.size() == 0);
  add_frames(sheet, size, 0, 12);
  CHECK(sheet.size() == 12);
  add_frames(sheet, size, 12, 13);
  CHECK(sheet.size() == 7);
  for (std::uint64_t id = 13; id < 200; ++id) {
    add_frames(sheet, size, id, id + 1);
    CHECK(sheet.size() >= 6);
    CHECK(sheet.size() <= 12);
  }
}

TEST_CASE("the kept frames are evenly spaced from the first on") {
  const FrameGeometry size{40, 10};
  ContactSheet sheet(size);
  add_frames(sheet, size, 0, 192);
  REQUIRE(sheet.size() == 12);
  const RgbImage image = sheet.render();
  for (int id = 0; id < 192; ++id) {
    CAPTURE(id);
    CHECK(shows(image, static_cast<std::uint8_t>(id), size.width) == (id % 16 == 0));
  }
}

TEST_CASE("a frame that is not wanted may be skipped without its pixels") {
  const FrameGeometry size{8, 8};
  ContactSheet added(size);
  ContactSheet skipped(size);
  for (std::uint64_t id = 0; id < 100; ++id) {
    add_frames(added, size, id, id + 1);
    if (skipped.wants_next()) {
      add_frames(skipped, size, id, id + 1);
    } else {
      skipped.skip();
    }
  }
  CHECK(added.render().pixels == skipped.render().pixels);
}

TEST_CASE("the sheet has whole rows of up to three tiles, each a preview beside its mask") {
  const FrameGeometry size{100, 60};
  ContactSheet sheet(size);
  const RgbImage empty = sheet.render();
  add_frames(sheet, size, 0, 1);
  const RgbImage one = sheet.render();
  CHECK(one.geometry.width > empty.geometry.width + 2 * size.width);
  CHECK(one.geometry.height > empty.geometry.height + size.height);
  add_frames(sheet, size, 1, 3);
  const RgbImage three = sheet.render();
  CHECK(three.geometry.height == one.geometry.height);
  CHECK(three.geometry.width > 6 * size.width);
  add_frames(sheet, size, 3, 12);
  const RgbImage twelve = sheet.render();
  CHECK(twelve.geometry.width == three.geometry.width);
  CHECK(twelve.geometry.height > 4 * size.height);
  CHECK(twelve.pixels.size() == twelve.geometry.rgb_bytes());
}

TEST_CASE("wide previews are kept at a fraction of their size") {
  const FrameGeometry size{1920, 1080};
  ContactSheet sheet(size);
  add_frames(sheet, size, 0, 2);
  const RgbImage image = sheet.render();
  CHECK(image.geometry.width < 4 * 400 + 200);
  CHECK(shows(image, 1, 384));
}

TEST_CASE("a sheet of pictures without pixels is only margins") {
  ContactSheet sheet({0, 0});
  add_frames(sheet, {0, 0}, 0, 20);
  CHECK_FALSE(sheet.render().pixels.empty());
}

TEST_CASE("text is drawn in dots and cut off at the edge of the image") {
  const FrameGeometry size{kGlyphWidth, kGlyphHeight};
  RgbImage image{size, std::vector<std::uint8_t>(size.rgb_bytes())};
  draw_text(image, 0, 0, 1, {255, 255, 255}, "1");
  CHECK(std::ranges::count(image.pixels, 255) == std::ptrdiff_t{3} * 10);
  RgbImage blank{size, std::vector<std::uint8_t>(size.rgb_bytes())};
  draw_text(blank, 0, 0, 1, {255, 255, 255}, "?");
  draw_text(blank, 100, 100, 3, {255, 255, 255}, "888");
  CHECK(std::ranges::count(blank.pixels, 0) == static_cast<std::ptrdiff_t>(size.rgb_bytes()));
  draw_text(blank, 4, 5, 2, {255, 255, 255}, "555");
  CHECK(std::ranges::count(blank.pixels, 255) == std::ptrdiff_t{3} * 4);
}

}  // namespace motion_watch
