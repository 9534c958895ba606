// SPDX-License-Identifier: Apache-2.0
#include "plan_layout.hpp"

#include <catch2/catch_test_macros.hpp>

namespace motion_watch {
namespace {

constexpr LayoutSizes kSizes{
    .node_width = 100, .node_height = 40, .column_gap = 50, .row_gap = 20, .lane_height = 30};

void check_inside(const PlanLayout& layout) {
  for (const Point& node : layout.nodes) {
    CHECK(node.x >= 0);
    CHECK(node.y >= 0);
    CHECK(node.x + kSizes.node_width <= layout.width);
    CHECK(node.y + kSizes.node_height <= layout.height);
  }
}

// No two nodes share a point.
void check_apart(const PlanLayout& layout) {
  for (std::size_t a = 0; a < layout.nodes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const Point& p = layout.nodes[a];
      const Point& q = layout.nodes[b];
      CHECK((p.x != q.x || p.y >= q.y + kSizes.node_height || q.y >= p.y + kSizes.node_height));
    }
  }
}

}  // namespace

TEST_CASE("a chain goes from left to right in one row") {
  const PlanLayout layout = lay_out_plan(3, {{0, 1}, {1, 2}}, kSizes);
  CHECK(layout.width == 400);
  CHECK(layout.height == 40);
  CHECK(layout.nodes[1].x == 150);
  CHECK(layout.nodes[2].x == 300);
  CHECK(layout.nodes[0].y == layout.nodes[2].y);
  CHECK(layout.connections[0].front().x == 100);
  CHECK(layout.connections[0].back().x == 150);
}

TEST_CASE("a connection that skips layers passes them beside their nodes") {
  const PlanLayout layout = lay_out_plan(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, kSizes);
  const std::vector<Point>& around = layout.connections[3];
  REQUIRE(around.size() == 6);
  for (const std::size_t node : {1u, 2u}) {
    const double y = around[2 * node - 1].y;
    CHECK((y <= layout.nodes[node].y || y >= layout.nodes[node].y + kSizes.node_height));
  }
  check_inside(layout);
  check_apart(layout);
}

TEST_CASE("lines that meet at a node end at different heights in the order of their origins") {
  const PlanLayout layout = lay_out_plan(4, {{0, 3}, {1, 3}, {2, 3}, {2, 3}}, kSizes);
  for (std::size_t a = 0; a < 4; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      const std::vector<Point>& p = layout.connections[a];
      const std::vector<Point>& q = layout.connections[b];
      if (a != b) CHECK(p.back().y != q.back().y);
      if (p.front().y < q.front().y) CHECK(p.back().y < q.back().y);
    }
  }
  check_apart(layout);
}

TEST_CASE("two branches that could be drawn without a crossing are") {
  const PlanLayout layout = lay_out_plan(6, {{0, 1}, {0, 2}, {1, 5}, {2, 4}, {4, 3}}, kSizes);
  const bool first_above = layout.nodes[1].y < layout.nodes[2].y;
  CHECK((layout.nodes[5].y < layout.nodes[4].y) == first_above);
  check_apart(layout);
}

TEST_CASE("cycles, loops to oneself, islands and nothing at all are drawn too") {
  const PlanLayout cycle = lay_out_plan(5, {{0, 1}, {1, 2}, {2, 1}, {3, 3}, {2, 0}}, kSizes);
  CHECK(cycle.connections.size() == 5);
  for (const std::vector<Point>& points : cycle.connections) CHECK(points.size() >= 2);
  check_inside(cycle);
  check_apart(cycle);
  const PlanLayout empty = lay_out_plan(0, {}, kSizes);
  CHECK(empty.width == 0);
  CHECK(empty.height == 0);
}

TEST_CASE("the same plan is laid out the same way") {
  const std::vector<Connection> connections = {{0, 2}, {1, 2}, {2, 3}, {0, 3}, {1, 4}, {3, 4}};
  const PlanLayout first = lay_out_plan(5, connections, kSizes);
  const PlanLayout second = lay_out_plan(5, connections, kSizes);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(first.nodes[i].x == second.nodes[i].x);
    CHECK(first.nodes[i].y == second.nodes[i].y);
  }
}

}  // namespace motion_watch
