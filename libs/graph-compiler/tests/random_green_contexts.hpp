// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include "test_graph.hpp"

namespace weftline {

/// Sets SMs of emulated:0 apart for some of the graph's authored lanes, whether or not these have
/// work on it; the rest of the device keeps some. The graph still compiles without errors.
inline TestGraph with_random_green_contexts(TestGraph graph, std::uint32_t seed) {
  std::mt19937 random(seed + 2'000);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  std::set<std::string> lanes;
  for (const VertexSnapshot& vertex : graph.snapshot().vertices) {
    if (vertex.authored_partition) {
      lanes.insert(graph.snapshot().partitions[*vertex.authored_partition]);
    }
  }
  const std::uint32_t quantum = 1U << below(4);
  std::uint32_t bound = 0;
  for (const std::string& lane : lanes) {
    if (below(3) == 0) continue;
    const std::uint32_t sm_count = quantum * (1 + below(4));
    bound += sm_count;
    graph.options.deployment.bind_green_context({lane, kEmulated0, sm_count});
  }
  DeviceDescription& device = graph.options.devices.devices[0];
  device.sm_count = bound + quantum * (1 + below(4)) + below(quantum);
  device.green_contexts = {quantum, 1};
  return graph;
}

}  // namespace weftline
