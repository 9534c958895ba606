// SPDX-License-Identifier: Apache-2.0
#include "event.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstring>

namespace motion_watch {

TEST_CASE("the bytes of an event are its fields, one after the other") {
  MotionEvent event;
  event.frame_id = 0x0102030405060708u;
  event.capture_time_ns = -2;
  event.box_count = 1;
  event.total_regions = 17;
  event.boxes[0] = {1, 2, 3, 4};
  unsigned char bytes[sizeof event];
  std::memcpy(bytes, &event, sizeof event);
  const auto at = [&](std::size_t offset, auto value) {
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
  };
  CHECK(at(0, std::uint64_t{}) == event.frame_id);
  CHECK(at(8, std::int64_t{}) == -2);
  CHECK(at(16, std::uint32_t{}) == 1);
  CHECK(at(20, std::uint32_t{}) == 17);
  CHECK(at(24, std::uint16_t{}) == 1);
  CHECK(at(30, std::uint16_t{}) == 4);
  CHECK(at(150, std::uint16_t{}) == 0);
}

}  // namespace motion_watch
