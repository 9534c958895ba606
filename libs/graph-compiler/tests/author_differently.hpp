// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "weftline/graph/graph_snapshot.hpp"

namespace weftline {

/// Moves each item of `items` to a random place and tells, by old index, where it went.
template <class T>
std::vector<std::uint32_t> shuffle_items(std::vector<T>& items, std::mt19937& random) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::shuffle(order, random);
  std::vector<T> shuffled(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) shuffled[order[i]] = items[i];
  items = std::move(shuffled);
  return order;
}

/// The same graph, as if every authoring call had been made in another order.
inline void author_differently(GraphSnapshot& graph, std::mt19937& random) {
  const auto vertices = shuffle_items(graph.vertices, random);
  const auto partitions = shuffle_items(graph.partitions, random);
  const auto clocks = shuffle_items(graph.clocks, random);
  for (VertexSnapshot& vertex : graph.vertices) {
    if (vertex.authored_partition)
      vertex.authored_partition = partitions[*vertex.authored_partition];
  }
  for (FlowSnapshot& flow : graph.flows) {
    flow.source.vertex.value = vertices[flow.source.vertex.value];
    flow.target.vertex.value = vertices[flow.target.vertex.value];
  }
  shuffle_items(graph.flows, random);
  for (ExportSnapshot& topic : graph.exports) {
    for (PortRef& source : topic.sources) source.vertex.value = vertices[source.vertex.value];
    shuffle_items(topic.sources, random);
  }
  shuffle_items(graph.exports, random);
  for (ImportSnapshot& topic : graph.imports) {
    for (PortRef& target : topic.targets) target.vertex.value = vertices[target.vertex.value];
    shuffle_items(topic.targets, random);
  }
  shuffle_items(graph.imports, random);
  if (graph.default_clock) graph.default_clock = clocks[*graph.default_clock];
}

}  // namespace weftline
