// SPDX-License-Identifier: Apache-2.0
#include "pixel_steps.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "host_steps.hpp"
#include "plain_loop.hpp"
#include "random_scene.hpp"

namespace motion_watch {
namespace {

// Compares every result of one frame with those of the plain loop.
void check_equal(const HostSteps& steps, const PlainLoop& plain, const MotionEvent& event) {
  CHECK(std::ranges::equal(steps.gray, plain.gray()));
  CHECK(std::ranges::equal(steps.background, plain.background()));
  CHECK(std::ranges::equal(steps.raw_mask, plain.raw_mask()));
  CHECK(std::ranges::equal(steps.mask, plain.mask()));
  CHECK(steps.boxes.count == event.box_count);
  CHECK(steps.boxes.total == event.total_regions);
  CHECK(std::ranges::equal(steps.boxes.boxes, event.boxes));
  CHECK(std::ranges::equal(steps.preview, plain.preview()));
}

void run_both(HostSteps& steps, PlainLoop& plain, const std::vector<std::uint8_t>& rgb) {
  MotionEvent event;
  steps.run(rgb.data());
  plain.process(rgb, event);
  plain.draw_preview(rgb);
  check_equal(steps, plain, event);
}

// A grid of cells drawn as text, '#' moves, and its boxes.
struct Labelled {
  std::vector<CellRegion> work;
  MotionBoxes boxes;
};

Labelled label(const std::vector<const char*>& rows) {
  std::vector<std::uint8_t> counts;
  for (const char* row : rows) {
    for (const char* cell = row; *cell != '\0'; ++cell) {
      counts.push_back(*cell == '#' ? kCellMinimum : kCellMinimum - 1);
    }
  }
  const auto width = static_cast<std::uint32_t>(std::strlen(rows[0]));
  const auto height = static_cast<std::uint32_t>(rows.size());
  Labelled result{std::vector<CellRegion>(counts.size()), {}};
  label_boxes_host(counts.data(), {width * 16, height * 16}, result.work.data(), &result.boxes);
  return result;
}

}  // namespace

TEST_CASE("every host step equals the plain loop on random scenes of awkward sizes") {
  for (const FrameGeometry size : awkward_sizes()) {
    CAPTURE(size.width, size.height);
    RandomScene scene(size, size.width * 1000 + size.height);
    HostSteps steps(size);
    PlainLoop plain(size);
    for (int frame = 0; frame < 6; ++frame) {
      CAPTURE(frame);
      run_both(steps, plain, scene.next());
    }
  }
}

TEST_CASE("every host step equals the plain loop when pictures are all dark or all bright") {
  const FrameGeometry size{70, 50};
  HostSteps steps(size);
  PlainLoop plain(size);
  std::vector<std::uint8_t> rgb(size.rgb_bytes());
  for (const int level : {0, 0, 255, 255, 255, 0, 0}) {
    std::ranges::fill(rgb, static_cast<std::uint8_t>(level));
    run_both(steps, plain, rgb);
    CHECK(std::ranges::all_of(steps.gray, [&](std::uint8_t g) { return g == level; }));
  }
}

TEST_CASE("a scene that jumps from dark to bright is one region of the whole frame") {
  const FrameGeometry size{71, 51};
  HostSteps steps(size);
  std::vector<std::uint8_t> rgb(size.rgb_bytes(), 0);
  steps.run(rgb.data());
  CHECK(steps.boxes == MotionBoxes{});
  std::ranges::fill(rgb, std::uint8_t{255});
  steps.run(rgb.data());
  CHECK(steps.boxes.count == 1);
  CHECK(steps.boxes.total == 1);
  CHECK(steps.boxes.boxes[0] == Box{0, 0, 70, 50});
}

TEST_CASE("pointers of any alignment give the same results") {
  const FrameGeometry size{131, 77};
  RandomScene scene(size, 5);
  HostSteps aligned(size);
  HostSteps shifted(size);
  std::vector<std::uint8_t> rgb(size.rgb_bytes() + 1);
  std::vector<std::uint8_t> gray(size.half().pixels() + 1);
  for (int frame = 0; frame < 3; ++frame) {
    const std::vector<std::uint8_t>& picture = scene.next();
    std::ranges::copy(picture, rgb.begin() + 1);
    aligned.run(picture.data());
    gray_half_host(rgb.data() + 1, size, gray.data() + 1);
    CHECK(std::equal(aligned.gray.begin(), aligned.gray.end(), gray.begin() + 1));
    shifted.run(rgb.data() + 1);
    CHECK(aligned.preview == shifted.preview);
    CHECK(aligned.boxes == shifted.boxes);
  }
}

TEST_CASE("no step writes outside its outputs") {
  const FrameGeometry size{1034, 37};
  const std::size_t pixels = size.half().pixels();
  RandomScene scene(size, 11);
  constexpr std::size_t kGuard = 64;
  const auto guarded = [](std::size_t n) { return std::vector<std::uint8_t>(n + kGuard, 0xa5); };
  const auto intact = [](const std::vector<std::uint8_t>& bytes) {
    return std::all_of(bytes.end() - kGuard, bytes.end(), [](std::uint8_t b) { return b == 0xa5; });
  };
  auto gray = guarded(pixels), mask = guarded(pixels), cleaned = guarded(pixels);
  auto counts = guarded(cell_grid(size).pixels()), preview = guarded(3 * pixels);
  std::vector<std::uint16_t> background(pixels + 1, 0xa5a5);
  std::vector<CellRegion> work(cell_grid(size).pixels());
  MotionBoxes boxes;
  for (int frame = 0; frame < 3; ++frame) {
    const std::uint8_t* rgb = scene.next().data();
    gray_half_host(rgb, size, gray.data());
    motion_update_host(gray.data(), size, frame == 0, background.data(), mask.data());
    clean_mask_host(mask.data(), size, cleaned.data());
    cell_counts_host(cleaned.data(), size, counts.data());
    label_boxes_host(counts.data(), size, work.data(), &boxes);
    overlay_host(rgb, size, cleaned.data(), &boxes, preview.data());
  }
  CHECK(intact(gray));
  CHECK(intact(mask));
  CHECK(intact(cleaned));
  CHECK(intact(counts));
  CHECK(intact(preview));
  CHECK(background.back() == 0xa5a5);
}

TEST_CASE("a frame without a half does nothing but report no boxes") {
  for (const FrameGeometry size : {FrameGeometry{0, 0}, FrameGeometry{1, 9}, FrameGeometry{9, 1}}) {
    MotionBoxes boxes;
    boxes.count = 3;
    const std::uint8_t rgb[27] = {};
    gray_half_host(rgb, size, nullptr);
    motion_update_host(nullptr, size, true, nullptr, nullptr);
    motion_update_host(nullptr, size, false, nullptr, nullptr);
    clean_mask_host(nullptr, size, nullptr);
    cell_counts_host(nullptr, size, nullptr);
    label_boxes_host(nullptr, size, nullptr, &boxes);
    overlay_host(rgb, size, nullptr, &boxes, nullptr);
    CHECK(boxes == MotionBoxes{});
  }
}

TEST_CASE("gray weighs the channels and rounds twice") {
  const std::uint8_t rgb[12] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 1, 1};
  std::uint8_t gray = 0;
  gray_half_host(rgb, {2, 2}, &gray);
  CHECK(gray == (77 + 149 + 29 + 1 + 2) / 4);
}

TEST_CASE("the background moves by a sixteenth and rounds down") {
  const FrameGeometry one{2, 2};
  const auto step = [&](std::uint8_t gray, std::uint16_t background) {
    std::uint8_t mask = 77;
    motion_update_host(&gray, one, false, &background, &mask);
    return std::pair(background, mask);
  };
  CHECK(step(0, 1) == std::pair<std::uint16_t, std::uint8_t>(0, 0));
  CHECK(step(1, 255) == std::pair<std::uint16_t, std::uint8_t>(255, 0));
  CHECK(step(255, 0) == std::pair<std::uint16_t, std::uint8_t>(4080, 255));
  CHECK(step(0, 65280) == std::pair<std::uint16_t, std::uint8_t>(61200, 255));
  CHECK(step(124, 100 << 8) == std::pair<std::uint16_t, std::uint8_t>(25984, 0));
  CHECK(step(125, 100 << 8) == std::pair<std::uint16_t, std::uint8_t>(26000, 255));
  CHECK(step(75, (100 << 8) + 255).second == 255);
  CHECK(step(76, (100 << 8) + 255).second == 0);
}

TEST_CASE("the first frame becomes the background whatever was in memory") {
  const FrameGeometry size{8, 6};
  std::vector<std::uint8_t> gray(12), mask(12, 9);
  std::iota(gray.begin(), gray.end(), std::uint8_t{200});
  std::vector<std::uint16_t> background(12, 0x1234);
  motion_update_host(gray.data(), size, true, background.data(), mask.data());
  for (std::size_t i = 0; i < gray.size(); ++i) CHECK(background[i] == gray[i] << 8);
  CHECK(std::ranges::count(mask, 0) == 12);
}

TEST_CASE("a pixel outside the picture counts as not set when the mask is cleaned") {
  const std::vector<std::uint8_t> all_set(9, 255);
  std::vector<std::uint8_t> cleaned(9);
  clean_mask_host(all_set.data(), {6, 6}, cleaned.data());
  CHECK(cleaned == std::vector<std::uint8_t>{0, 255, 0, 255, 255, 255, 0, 255, 0});
}

TEST_CASE("cells that touch at a corner are one region, and its label is its lowest cell") {
  const Labelled result = label({"..#....",  //
                                 ".#...#.",  //
                                 "#...#..",  //
                                 ".#.#...",  //
                                 "..#...."});
  CHECK(result.boxes.total == 1);
  CHECK(result.boxes.boxes[0] == Box{0, 0, 96, 80});
}

TEST_CASE("arms that meet only below are one region") {
  const Labelled result = label({"#.#.#.#",  //
                                 "#.#.#.#",  //
                                 "#.###.#",  //
                                 "#.....#",  //
                                 "#######"});
  CHECK(result.boxes.total == 2);
  CHECK(result.boxes.boxes[0] == Box{0, 0, 112, 80});
  CHECK(result.boxes.boxes[1] == Box{32, 0, 48, 48});
}

TEST_CASE("boxes are ordered by area, then by the lowest cell") {
  const Labelled result = label({"#..##..",  //
                                 ".......",  //
                                 "##..#..",  //
                                 "......#",  //
                                 "####..#"});
  REQUIRE(result.boxes.count == 6);
  CHECK(result.boxes.total == 6);
  CHECK(result.boxes.boxes[0] == Box{0, 64, 64, 16});
  CHECK(result.boxes.boxes[1] == Box{48, 0, 32, 16});
  CHECK(result.boxes.boxes[2] == Box{0, 32, 32, 16});
  CHECK(result.boxes.boxes[3] == Box{96, 48, 16, 32});
  CHECK(result.boxes.boxes[4] == Box{0, 0, 16, 16});
  CHECK(result.boxes.boxes[5] == Box{64, 32, 16, 16});
}

TEST_CASE("of more than 16 regions the largest are kept and all are counted") {
  const Labelled result = label({"#.#.#.#.#.#",  //
                                 "...........",  //
                                 "#.#.#.#.#.#",  //
                                 "...........",  //
                                 "#.#.#.#.#.#",  //
                                 "..........#"});
  CHECK(result.boxes.count == kMaxBoxes);
  CHECK(result.boxes.total == 18);
  CHECK(result.boxes.boxes[0] == Box{160, 64, 16, 32});
  CHECK(result.boxes.boxes[1] == Box{0, 0, 16, 16});
  CHECK(result.boxes.boxes[15] == Box{64, 64, 16, 16});
}

TEST_CASE("unused boxes are zero even if the record held others before") {
  std::vector<std::uint8_t> counts(4, 64);
  std::vector<CellRegion> work(4);
  MotionBoxes boxes;
  std::ranges::fill(boxes.boxes, Box{1, 2, 3, 4});
  label_boxes_host(counts.data(), {32, 32}, work.data(), &boxes);
  CHECK(boxes.count == 1);
  CHECK(boxes.boxes[1] == Box{});
  CHECK(boxes.boxes[15] == Box{});
}

TEST_CASE("a box ends at the last pixel that has a half") {
  const FrameGeometry size{39, 21};
  std::vector<std::uint8_t> counts(cell_grid(size).pixels(), 64);
  std::vector<CellRegion> work(counts.size());
  MotionBoxes boxes;
  label_boxes_host(counts.data(), size, work.data(), &boxes);
  CHECK(boxes.boxes[0] == Box{0, 0, 38, 20});
}

TEST_CASE("the CUDA form of a build without CUDA says so") {
  if (!pixel_kernels().empty()) SKIP("this build has CUDA");
  const FrameGeometry size{4, 4};
  CHECK(gray_half_cuda(nullptr, nullptr, size, nullptr) == kNotBuiltWithCuda);
  CHECK(motion_update_cuda(nullptr, nullptr, size, true, nullptr, nullptr) == kNotBuiltWithCuda);
  CHECK(clean_mask_cuda(nullptr, nullptr, size, nullptr) == kNotBuiltWithCuda);
  CHECK(cell_counts_cuda(nullptr, nullptr, size, nullptr) == kNotBuiltWithCuda);
  CHECK(label_boxes_cuda(nullptr, nullptr, size, nullptr, nullptr) == kNotBuiltWithCuda);
  CHECK(overlay_cuda(nullptr, nullptr, size, nullptr, nullptr, nullptr) == kNotBuiltWithCuda);
  CHECK(std::string(pixel_error_name(kNotBuiltWithCuda)).find("without CUDA") != std::string::npos);
}

}  // namespace motion_watch
