// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

#include "test_graph.hpp"

namespace weftline {

/// A graph of up to 60 operators that compiles without errors: tensors in host, pinned and device
/// memory and scalars, forks, meetings, pass-through outputs, authored lanes, topics. The seed says
/// all. Ports are called after the number of their operator, names do not follow the flow.
inline TestGraph random_graph(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  TestGraph graph("random");
  std::vector<std::string> scalars;
  std::vector<std::string> tensors;  // all on one device, or on none
  std::vector<std::string> device_tensors;
  const auto take = [&](const std::vector<std::string>& outputs) {
    return outputs[below(outputs.size())];
  };
  const auto connection = [&] {
    ConnectionOptions options;
    if (below(2) == 0) options.queue_depth = 1 + below(9);
    if (below(4) == 0) options.queue_policy = QueuePolicy::kDropOldest;
    return options;
  };
  const std::uint32_t count = 4 + below(57);
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::string path =
        std::string(1, static_cast<char>('a' + below(26))) + std::to_string(number);
    const std::uint32_t kind = number < 4 ? number : below(9);
    const std::string out = path + ".out";
    if (kind == 0) {
      graph.source(path);
      scalars.push_back(out);
    } else if (kind == 1) {
      graph.source(path).tensor_output(out, pool_in(MemoryKind::kHost));
      tensors.push_back(out);
    } else if (kind == 2) {
      graph.source(path).tensor_output(out, pool_in(MemoryKind::kCudaDevice));
      graph.bind(path, "out", kEmulated0);
      tensors.push_back(out);
      device_tensors.push_back(out);
    } else if (kind == 3) {
      graph.relay(path).flow(take(scalars), path + ".in", connection());
      scalars.push_back(out);
    } else if (kind == 4) {
      graph.relay(path).tensor_input(path + ".in").tensor_output(out, {});
      graph.flow(take(tensors), path + ".in", connection());
      tensors.push_back(out);
    } else if (kind == 5) {
      graph.relay(path)
          .tensor_input(path + ".in")
          .tensor_output(out, pool_in(MemoryKind::kCudaDevice));
      graph.bind(path, "out", kEmulated0).flow(take(tensors), path + ".in", connection());
      tensors.push_back(out);
      device_tensors.push_back(out);
    } else if (kind == 6) {
      graph.op(path, {"x", "y"}, {"out"}).tensor_input(path + ".y");
      graph.flow(take(scalars), path + ".x", connection());
      graph.flow(take(tensors), path + ".y", connection());
      scalars.push_back(out);
    } else if (kind == 7) {
      graph.sink(path).tensor_input(path + ".in", takes(MemoryKind::kCudaDevice));
      graph.flow(take(device_tensors), path + ".in", connection());
    } else {
      graph.op(path, {"in"}, {"out"}).tensor_input(path + ".in");
      graph.tensor_output(out, pool_in(MemoryKind::kPinnedHost));
      graph.flow(take(device_tensors), path + ".in", connection());
      // Pinned memory does not tell its reader's device.
      tensors.push_back(out);
    }
    if (below(5) == 0) graph.place(path, "lane" + std::to_string(below(3)));
  }
  for (std::uint32_t topic = below(3); topic > 0; --topic) {
    graph.topic("weftline://topic/" + std::to_string(topic), {take(scalars)});
  }
  return graph;
}

}  // namespace weftline
