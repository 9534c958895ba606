// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

#include "test_graph.hpp"

namespace weftline {

/// Adds up to 5 topics to a graph, which still compiles without errors: imports of numbers and of
/// tensors in each kind of memory that crosses, taken by one or two operators, relayed or not;
/// exports of tensors from pools.
inline TestGraph with_random_boundary(TestGraph graph, std::uint32_t seed) {
  std::mt19937 random(seed + 1'000);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  for (std::uint32_t number = below(6); number > 0; --number) {
    const std::string path = std::string(below(2) == 0 ? "0" : "zz") + std::to_string(number);
    const std::uint32_t kind = below(5);
    const auto memory = static_cast<MemoryKind>(below(3) + 1);
    TopicOptions options;
    if (below(2) == 0) options.bounds.subscriber.queue_depth = 1 + below(9);
    if (kind == 4) {
      graph.source(path).tensor_output(path + ".out", pool_in(memory));
      graph.topic("weftline://sent/" + path, {path + ".out"}, options);
      if (memory != MemoryKind::kHost) graph.bind(path, "out", kEmulated0);
      continue;
    }
    options.restart.allow_external_restart = below(2) == 0;
    graph.relay(path).sink(path + "end");
    std::vector<std::string> targets{path + ".in"};
    if (kind > 0) {
      options.tensor = boundary(memory);
      graph.tensor_input(path + ".in")
          .tensor_input(path + "end.in")
          .tensor_output(path + ".out", {});
      graph.input(path + ".in").retained_samples = below(3);
      if (memory != MemoryKind::kHost) graph.bind_import("taken." + path, kEmulated0);
    }
    graph.flow(path + ".out", path + "end.in");
    if (below(2) == 0) {
      graph.sink(path + "twin");
      if (kind > 0) graph.tensor_input(path + "twin.in");
      targets.push_back(path + "twin.in");
    }
    graph.import("weftline://taken/" + path, targets, options);
  }
  return graph;
}

}  // namespace weftline
