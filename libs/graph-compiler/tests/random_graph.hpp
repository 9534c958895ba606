// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

#include "test_graph.hpp"

namespace weftline {

/// What an operator of the given trigger may take from a side input.
inline InputSelectionSnapshot random_selection(std::mt19937& random,
                                               TemporalRecordTriggerKind trigger) {
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  const bool window = trigger == TemporalRecordTriggerKind::kWindow;
  const bool matches = window || trigger == TemporalRecordTriggerKind::kEach ||
                       trigger == TemporalRecordTriggerKind::kClock ||
                       trigger == TemporalRecordTriggerKind::kAligned;
  InputSelectionSnapshot selection;
  selection.missing = static_cast<MissingDataKind>(below(5));
  if (selection.missing == MissingDataKind::kReuseLast) selection.max_reuses = 1 + below(9);
  switch (below(matches ? 4 : 2)) {
    case 0:
      selection.selector = InputSelectorKind::kLatestWithin;
      selection.max_age_ns = 1 + below(50'000'000);
      break;
    case 1:
      selection.selector = InputSelectorKind::kDrainAll;
      selection.max_samples = 1 + below(40);
      break;
    case 2:
      selection.selector = InputSelectorKind::kExact;
      break;
    default:
      selection.selector = InputSelectorKind::kBracketedWindow;
      selection.lookbehind_ns = 1 + below(50'000'000);
      selection.lookahead_ns = window ? below(50'000'000) : 0;
      selection.max_samples = 1 + below(40);
  }
  return selection;
}

/// A graph of up to 60 operators, or what is given, that compiles without errors: tensors in host,
/// pinned and device memory and scalars, forks, meetings, pass-through outputs, side inputs,
/// triggers of every kind, authored lanes, topics. The seed says all. Ports are called after the
/// number of their operator, names do not follow the flow.
inline TestGraph random_graph(std::uint32_t seed, std::uint32_t most_operators = 60) {
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
  const auto connection = [&](std::uint32_t least = 1) {
    ConnectionOptions options;
    if (below(2) == 0) options.queue_depth = least + below(9);
    if (below(4) == 0) options.queue_policy = QueuePolicy::kDropOldest;
    return options;
  };
  const std::uint32_t count = 4 + below(most_operators - 3);
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::string path =
        std::string(1, static_cast<char>('a' + below(26))) + std::to_string(number);
    const std::uint32_t kind = number < 4 ? number : below(14);
    using Triggers = TemporalRecordTriggerKind;
    const auto take_beside = [&](const std::string& input) {
      graph.select(input, random_selection(random, graph.vertex(path).trigger->kind));
    };
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
    } else if (kind == 8) {
      graph.source(path).readiness(path, {{.name = "bell", .capacity = 1 + below(9)}, {}});
      graph.trigger(path, {.kind = Triggers::kNotified});
      scalars.push_back(out);
    } else if (kind == 9) {
      graph.op(path, {"x", "y"}, {"out"}).tensor_input(path + ".y");
      graph.flow(take(scalars), path + ".x", connection());
      graph.flow(take(tensors), path + ".y", connection(2));
      graph.trigger(path, {.kind = Triggers::kEach, .inputs = {0}});
      if (below(2) == 0) {
        graph.trigger(path, {.kind = Triggers::kWindow,
                             .inputs = {0},
                             .max_wait_ns = 1 + below(50'000'000),
                             .max_pending_windows = 1 + below(9)});
      }
      take_beside(path + ".y");
      scalars.push_back(out);
    } else if (kind == 10) {
      graph.op(path, {"x", "y"}, {}).tensor_input(path + ".x").tensor_input(path + ".y");
      graph.flow(take(tensors), path + ".x", connection(2));
      graph.flow(take(tensors), path + ".y", connection(2));
      graph.trigger(path, {.kind = Triggers::kClock, .period_ns = 1 + below(50'000'000)});
      if (below(3) == 0) {
        graph.trigger(path, {.kind = Triggers::kSpin});
        graph.readiness(path, {{.name = "flag", .kind = ReadinessSourceKind::kSpin}, {}});
      }
      take_beside(path + ".x");
      take_beside(path + ".y");
    } else if (kind == 11) {
      graph.op(path, {"x", "y", "z"}, {"out"}).tensor_input(path + ".z");
      graph.flow(take(scalars), path + ".x", connection());
      graph.flow(take(scalars), path + ".y", connection());
      graph.flow(take(tensors), path + ".z", connection(2));
      graph.trigger(path, {.kind = Triggers::kAligned,
                           .inputs = {0, 1},
                           .window_ns = static_cast<std::int64_t>(below(50'000'000))});
      take_beside(path + ".z");
      scalars.push_back(out);
    } else if (kind == 12) {
      // Often the same tensors by two ways.
      const std::string both = take(device_tensors);
      graph.op(path, {"x", "y"}, {"out"}).tensor_input(path + ".x").tensor_input(path + ".y");
      graph.tensor_output(out, pool_in(MemoryKind::kCudaDevice)).bind(path, "out", kEmulated0);
      graph.flow(both, path + ".x", connection());
      graph.flow(below(2) == 0 ? both : take(device_tensors), path + ".y", connection());
      graph.trigger(path, {.kind = Triggers::kAligned, .inputs = {0, 1}, .window_ns = 1'000});
      tensors.push_back(out);
      device_tensors.push_back(out);
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
