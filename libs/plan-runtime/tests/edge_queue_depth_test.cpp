// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#include "edge_queue.hpp"

using namespace weftline;
using runtime::EdgeQueue;

TEST_CASE("a queue holds as many samples as its depth was set to, up to its capacity") {
  const bool lossy = GENERATE(false, true);
  const std::uint32_t depth = GENERATE(1U, 3U, 6U);
  EdgeQueue queue({.ops = &payload_ops<std::uint64_t>(),
                   .policy = lossy ? QueuePolicy::kDropOldest : QueuePolicy::kBlocking,
                   .depth = 2,
                   .capacity = 6});
  queue.set_depth(depth);
  constexpr std::uint64_t kOffered = 20;
  for (std::uint64_t round = 0; round < 3; ++round) {
    std::vector<std::uint64_t> expected_values;
    std::uint64_t pushed = 0;
    for (; pushed < kOffered && queue.has_room(1); ++pushed) {
      queue.push(&pushed, false, [] { return SampleMetadata{}; });
    }
    CHECK(pushed == (lossy ? kOffered : depth));
    for (std::uint64_t value = pushed - depth; value < pushed; ++value) {
      expected_values.push_back(value);
    }
    std::vector<std::uint64_t> values;
    for (auto front = queue.front(); front; front = queue.front()) {
      values.push_back(*static_cast<std::uint64_t*>(front.value));
      queue.pop();
    }
    CHECK(values == expected_values);
  }
}
