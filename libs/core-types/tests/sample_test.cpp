// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/sample.hpp"

#include <catch2/catch_test_macros.hpp>
#include <type_traits>
#include <unordered_set>

namespace weftline {
namespace {

static_assert(std::is_trivially_copyable_v<SampleMetadata>);
static_assert(!std::is_convertible_v<VertexId, EdgeId>, "ids of different things don't mix");

TEST_CASE("an omitted capture time and frame id stay absent") {
  const SampleMetadata metadata;
  CHECK_FALSE(metadata.capture_time().has_value());
  CHECK_FALSE(metadata.frame_id.has_value());
  CHECK_FALSE(metadata.trace.valid());
}

TEST_CASE("validity and degradation are flags of their own") {
  SampleMetadata metadata;
  CHECK(metadata.valid());
  metadata.flags = SampleFlags::kDegraded;
  CHECK(metadata.valid());
  CHECK(metadata.degraded());
  metadata.flags = SampleFlags::kInvalid | SampleFlags::kDegraded;
  CHECK_FALSE(metadata.valid());
  CHECK(metadata.degraded());
}

TEST_CASE("an id is invalid until it is set, and hashes by value") {
  CHECK_FALSE(VertexId{}.valid());
  CHECK(VertexId{0}.valid());
  const std::unordered_set<VertexId> ids{{1}, {2}, {1}};
  CHECK(ids.size() == 2);
}

TEST_CASE("the realtime clock never goes back") {
  const RealtimeClock clock;
  std::int64_t last = clock.now_ns();
  CHECK(last > 0);
  for (int i = 0; i < 1'000; ++i) {
    const std::int64_t now = clock.now_ns();
    REQUIRE(now >= last);
    last = now;
  }
  CHECK(clock.independent_progress());
}

}  // namespace
}  // namespace weftline
