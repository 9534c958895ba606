// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace motion_watch {

struct Point {
  double x = 0;
  double y = 0;
};

/// A connection between two nodes, by their indices.
struct Connection {
  std::size_t from;
  std::size_t to;
};

/// Sizes of a layered drawing, in pixels.
struct LayoutSizes {
  double node_width, node_height;
  double column_gap;   ///< Between the nodes of neighbouring layers.
  double row_gap;      ///< Between the nodes of one layer.
  double lane_height;  ///< What an edge takes that passes through a layer.
};

/// Where everything goes. Coordinates start at (0, 0) and end at (width, height).
struct PlanLayout {
  double width = 0;
  double height = 0;
  std::vector<Point> nodes;                     ///< Top left corners, by node.
  std::vector<std::vector<Point>> connections;  ///< From the right side of a node to the left side
                                                ///< of another; points between in passed layers.
};

/// Places `nodes` nodes in layers from left to right, each one layer after the last node that leads
/// to it. Long connections get a lane of their own in the layers they pass, and nodes are ordered
/// so that few connections cross. Deterministic. A connection that closes a cycle is drawn
/// straight back. Every index must be below `nodes`.
PlanLayout lay_out_plan(std::size_t nodes, const std::vector<Connection>& connections,
                        const LayoutSizes& sizes);

}  // namespace motion_watch
