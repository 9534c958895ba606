// SPDX-License-Identifier: Apache-2.0
#include "synthetic_scene.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace motion_watch {
namespace {

// FNV-1a, so that the scene's bytes can be named here.
std::uint64_t hash_of(const std::vector<std::uint8_t>& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

}  // namespace

TEST_CASE("the synthetic scene gives as many frames as asked for, then its end") {
  SyntheticScene scene(3);
  CHECK(scene.geometry() == FrameGeometry{640, 480});
  CHECK(scene.frame_rate() == FrameRate{30, 1});
  std::vector<std::uint8_t> rgb(scene.geometry().rgb_bytes());
  for (int i = 0; i < 3; ++i) CHECK(scene.read_into(rgb) == true);
  CHECK(scene.read_into(rgb) == false);
  CHECK(scene.read_into(rgb) == false);
}

TEST_CASE("a synthetic scene of no frames is at its end") {
  SyntheticScene scene(0);
  std::vector<std::uint8_t> rgb(scene.geometry().rgb_bytes());
  CHECK(scene.read_into(rgb) == false);
}

TEST_CASE("a frame of the synthetic scene has the same bytes in every run and on every machine") {
  SyntheticScene scene(100'000);
  std::vector<std::uint8_t> rgb(scene.geometry().rgb_bytes());
  REQUIRE(scene.read_into(rgb) == true);
  CHECK(hash_of(rgb) == 0x841f37c5c1a6bba3u);
  for (int i = 1; i <= 500; ++i) REQUIRE(scene.read_into(rgb) == true);
  CHECK(hash_of(rgb) == 0x991713581efc8ffdu);
}

TEST_CASE("the synthetic scene refuses a buffer of the wrong size and loses no frame") {
  SyntheticScene scene(1);
  std::vector<std::uint8_t> rgb(scene.geometry().rgb_bytes());
  const auto refused = scene.read_into(std::span(rgb).first(10));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().find("holds 10 bytes") != std::string::npos);
  CHECK(scene.read_into(rgb) == true);
}

TEST_CASE("media time is exact where a frame's length is no whole number of nanoseconds") {
  CHECK(media_time_ns(0, {30, 1}) == 0);
  CHECK(media_time_ns(1, {30, 1}) == 33'333'333);
  CHECK(media_time_ns(30, {30, 1}) == 1'000'000'000);
  CHECK(media_time_ns(30'000, {30'000, 1001}) == 1'001'000'000'000);
  // A year of frames at 30000/1001 per second: no sum of rounded lengths would end here.
  CHECK(media_time_ns(945'120'000, {30'000, 1001}) == 31'535'504'000'000'000);
}

}  // namespace motion_watch
