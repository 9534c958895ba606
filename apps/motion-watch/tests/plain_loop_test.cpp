// SPDX-License-Identifier: Apache-2.0
#include "plain_loop.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "synthetic_scene.hpp"

namespace motion_watch {
namespace {

std::vector<MotionEvent> events_of(std::uint64_t frames, std::uint64_t max_frames) {
  SyntheticScene scene(frames);
  std::vector<MotionEvent> events;
  const auto ran =
      run_plain_loop(scene, max_frames, [&](const MotionEvent& event) { events.push_back(event); });
  CHECK(ran == events.size());
  return events;
}

// A source that breaks off.
class BrokenSource final : public FrameSource {
 public:
  FrameGeometry geometry() const override { return {32, 32}; }
  FrameRate frame_rate() const override { return {10, 1}; }
  tl::expected<bool, std::string> read_into(std::span<std::uint8_t>) override {
    if (++reads_ > 2) return tl::unexpected(std::string("frame 2 is damaged"));
    return true;
  }

 private:
  int reads_ = 0;
};

}  // namespace

TEST_CASE("the plain loop makes one event per frame, numbered and timed") {
  const std::vector<MotionEvent> events = events_of(40, 1000);
  REQUIRE(events.size() == 40);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].frame_id == i);
    CHECK(events[i].capture_time_ns == media_time_ns(i, {30, 1}));
    CHECK(events[i].box_count <= events[i].total_regions);
  }
}

TEST_CASE("the plain loop finds the rectangles of the synthetic scene once they move") {
  const std::vector<MotionEvent> events = events_of(30, 1000);
  CHECK(events[0].box_count == 0);
  CHECK(events[29].box_count >= 3);
  for (std::size_t i = 0; i < events[29].box_count; ++i) {
    const Box& box = events[29].boxes[i];
    CHECK(box.w > 0);
    CHECK(box.x + box.w <= 640);
    CHECK(box.y + box.h <= 480);
  }
}

TEST_CASE("the plain loop gives the same events every time and stops where it is told") {
  const std::vector<MotionEvent> all = events_of(20, 1000);
  const std::vector<MotionEvent> few = events_of(20, 7);
  CHECK(events_of(20, 1000) == all);
  CHECK(few == std::vector<MotionEvent>(all.begin(), all.begin() + 7));
}

TEST_CASE("the plain loop passes on the error of its source") {
  BrokenSource source;
  int events = 0;
  const auto ran = run_plain_loop(source, 10, [&](const MotionEvent&) { ++events; });
  REQUIRE_FALSE(ran.has_value());
  CHECK(ran.error() == "frame 2 is damaged");
  CHECK(events == 2);
}

}  // namespace motion_watch
