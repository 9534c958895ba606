// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

#include "random_graph.hpp"
#include "test_derivations.hpp"

namespace weftline {

/// Some pools of the graph leave their bytes to a formula: over literals, inputs, a shape and a
/// projector; most of them sensible, some beyond what 64 bits hold.
inline void derive_some_bytes(TestGraph& graph, std::uint32_t seed) {
  std::mt19937_64 random(seed + 200'000);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto number = [&]() -> std::uint64_t {
    return below(12) == 0 ? (std::uint64_t{1} << 63) - 1 - below(3) : 1 + below(500);
  };
  for (VertexSnapshot& vertex : graph.snapshot().vertices) {
    for (std::uint32_t port = 0; port < vertex.outputs.size(); ++port) {
      auto& tensor = vertex.outputs[port].tensor;
      if (!tensor) continue;
      const bool pooled = tensor->storage == TensorOutputStorage::kRuntimePool;
      if (!pooled && below(3) != 0) tensor->bounds = tensor_bounds(number());
      if (!pooled || below(3) == 0) continue;
      const auto leaf = [&]() -> TensorByteSpanExpression {
        switch (below(vertex.inputs.empty() ? 3 : 6)) {
          case 0:
            return shape_bytes();
          case 1:
            return projected<&fixed_bytes>("test.fixed");
          case 2:
            return tensor_byte_span(number());
          default:
            return largest_at(static_cast<std::uint32_t>(vertex.inputs.size() - 1));
        }
      };
      TensorByteSpanExpression bytes = leaf();
      for (std::uint64_t steps = below(4); steps > 0; --steps) {
        const std::uint64_t step = below(4);
        bytes = step == 0   ? bytes.aligned_to(std::uint64_t{1} << below(10))
                : step == 1 ? bytes.multiplied_by(leaf())
                : step == 2 ? bytes.ceiling_divided_by(leaf())
                            : bytes.maximum_with(leaf());
      }
      tensor->bounds = {};
      tensor->representation.rank = 3;
      vertex.derivations.push_back({port, {.byte_span = bytes}});
      ResizeParams values{.fixed = number()};
      values.shape = {static_cast<std::int64_t>(number()), 1 + static_cast<std::int64_t>(below(9)),
                      below(10) == 0 ? 0 : 3};
      vertex.params = ParamSet::given(values);
    }
  }
}

/// A random graph whose ports also state rates, ratios, horizons, bursts and samples that they
/// keep: most of them sensible, some at the ends of what 64 bits hold, some that are none. Such a
/// graph need not compile without errors.
inline TestGraph random_rate_graph(std::uint32_t seed, std::uint32_t most_operators = 60) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  TestGraph graph = random_graph(seed, most_operators);
  std::mt19937 random(seed + 100'000);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  const auto rate = [&]() -> Rate {
    switch (below(24)) {
      case 0:
        return Rate::per(kMax - below(3), 1 + below(9));
      case 1:
        return Rate::per(1 + below(9), kMax - below(3));
      case 2:
        return Rate::per(below(2), below(2));
      case 3:
        return Rate::per(30'000, 1'001);
      case 4:
        return Rate::per(1, 1 + below(100));
      default:
        return Rate::hz(1 + below(2'000));
    }
  };
  const auto ratio = [&]() -> RateRatio {
    switch (below(24)) {
      case 0:
        return {kMax - below(3), 1 + below(3)};
      case 1:
        return {below(2), below(2)};
      default:
        return {1 + below(4), 1 + below(4)};
    }
  };
  const auto horizon = [&]() -> Horizon {
    switch (below(24)) {
      case 0:
        return Horizon::seconds(kMax - below(3), 1 + below(9));
      case 1:
        return Horizon::seconds(below(2), below(2));
      case 2:
        return Horizon::seconds(1 + below(9), kMax - below(3));
      default:
        return Horizon::seconds(1 + below(4), 1 + below(100));
    }
  };
  for (VertexSnapshot& vertex : graph.snapshot().vertices) {
    for (OutputPortRecord& output : vertex.outputs) {
      output.max_emits_per_compute = 1 + (below(3) == 0 ? below(6) : 0);
      OutputRateRecord& stated = output.rate;
      const std::uint32_t kind = below(vertex.inputs.empty() ? 3 : 6);
      if (kind == 1) stated = {.kind = PortRateKind::kFixedNominal, .rate = rate()};
      if (kind == 2) stated = {.kind = PortRateKind::kLifecycleNominal, .rate = rate()};
      if (kind == 2 && below(5) != 0) stated.maximum = rate();
      if (kind > 2) {
        stated = {.kind = PortRateKind::kFollowsInput,
                  .follows_input =
                      below(20) == 0 ? 7 : below(static_cast<std::uint32_t>(vertex.inputs.size())),
                  .ratio = ratio()};
      }
    }
    for (InputPortRecord& input : vertex.inputs) {
      if (below(3) == 0) input.expected_rate = rate();
      if (below(3) == 0) input.accumulates_over = horizon();
      if (below(4) == 0) input.retained_samples = below(9);
    }
    if (vertex.inputs.size() > 1 && vertex.contract.selections.empty() && below(2) == 0) {
      vertex.trigger = {.kind = TemporalRecordTriggerKind::kAligned,
                        .inputs = {0, 1},
                        .window_ns = below(2) == 0 ? 0 : below(50'000'000)};
    }
  }
  derive_some_bytes(graph, seed);
  constexpr RateRatio kHeadrooms[] = {{2, 1}, {3, 2}, {1, 1}, {65'537, 3}, {1, 2}, {kMax, 2}};
  if (below(2) == 0) graph.options.automatic_queue_sizing.headroom_ratio = kHeadrooms[below(6)];
  return graph;
}

}  // namespace weftline
