// SPDX-License-Identifier: Apache-2.0
#include "flow_order.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

namespace weftline {
namespace {

using Vertices = std::vector<std::uint32_t>;

TEST_CASE("the smallest vertex that is ready comes next") {
  CHECK(topological_order({}).empty());
  CHECK(topological_order({{}, {}, {}}) == Vertices{0, 1, 2});
  CHECK(topological_order({{}, {0}, {1}}) == Vertices{2, 1, 0});
  CHECK(topological_order({{3}, {3}, {0}, {}}) == Vertices{1, 2, 0, 3});
}

TEST_CASE("vertices on and behind a loop come last") {
  CHECK(topological_order({{1}, {2}, {1, 3}, {}, {}}) == Vertices{0, 4, 1, 2, 3});
}

TEST_CASE("two edges between the same vertices count as two") {
  CHECK(topological_order({{}, {0, 0}}) == Vertices{1, 0});
}

TEST_CASE("a graph without loops has none") {
  CHECK(find_loops({}).empty());
  CHECK(find_loops({{1, 2}, {3}, {3}, {}}).empty());
}

TEST_CASE("of each tangle the shortest loop through its smallest vertex is named") {
  CHECK(find_loops({{0}}) == std::vector<Vertices>{{0}});
  CHECK(find_loops({{1}, {2}, {3, 0}, {0}}) == std::vector<Vertices>{{0, 1, 2}});
  CHECK(find_loops({{1}, {0}, {3}, {2, 3}, {0}}) == std::vector<Vertices>{{0, 1}, {2, 3}});
}

TEST_CASE("a loop of 100,000 vertices needs no deep call stack") {
  constexpr std::uint32_t kCount = 100'000;
  Successors ring(kCount);
  for (std::uint32_t v = 0; v < kCount; ++v) ring[v].push_back((v + 1) % kCount);
  const auto loops = find_loops(ring);
  REQUIRE(loops.size() == 1);
  CHECK(loops.front().size() == kCount);
  CHECK(topological_order(ring).size() == kCount);
}

/// Loops by the plain definition: v reaches itself.
bool on_a_loop(const Successors& successors, std::uint32_t start) {
  std::vector<bool> seen(successors.size(), false);
  Vertices waiting = successors[start];
  while (!waiting.empty()) {
    const std::uint32_t v = waiting.back();
    waiting.pop_back();
    if (v == start) return true;
    if (seen[v]) continue;
    seen[v] = true;
    waiting.insert(waiting.end(), successors[v].begin(), successors[v].end());
  }
  return false;
}

TEST_CASE("on random graphs every loop named is one, and none is missed") {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t count = 1 + below(12);
    Successors successors(count);
    for (std::uint32_t edge = below(2 * count); edge > 0; --edge) {
      successors[below(count)].push_back(below(count));
    }
    const auto loops = find_loops(successors);
    for (const Vertices& loop : loops) {
      for (std::size_t i = 0; i < loop.size(); ++i) {
        const Vertices& targets = successors[loop[i]];
        const std::uint32_t next = loop[(i + 1) % loop.size()];
        CHECK(std::ranges::find(targets, next) != targets.end());
      }
    }
    bool any = false;
    for (std::uint32_t v = 0; v < count; ++v) any = any || on_a_loop(successors, v);
    CHECK(any == !loops.empty());

    Vertices order = topological_order(successors);
    if (!any) {
      std::vector<std::size_t> position(count);
      for (std::size_t i = 0; i < count; ++i) position[order[i]] = i;
      for (std::uint32_t v = 0; v < count; ++v) {
        for (const std::uint32_t w : successors[v]) CHECK(position[v] < position[w]);
      }
    }
    std::ranges::sort(order);
    for (std::uint32_t v = 0; v < count; ++v) CHECK(order[v] == v);
  }
}

}  // namespace
}  // namespace weftline
