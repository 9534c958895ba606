// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weftline/graph/contract.hpp"
#include "weftline/graph/port_binding.hpp"

namespace weftline::testing {

// What the reference models of contracts read and say. Plain values; a trace is fed in order.
//
// The models are not for programs: they allocate, copy and scan as they please, know no queue depth
// (what a full queue does is the edge's business), no lanes, no payloads, and one clock. They say
// what is right, for comparison with something that is fast.

struct ModelSample {
  std::uint64_t sequence{0};
  std::optional<std::int64_t> capture_ns{};
  std::int64_t came_ns{0};  ///< Set by OperatorModel::arrive().
  friend bool operator==(const ModelSample&, const ModelSample&) = default;
};

/// What waits at one input, oldest first.
struct ModelInput {
  std::deque<ModelSample> waiting{};
  bool ended{false};  ///< No more samples come; those that wait are still there.

  [[nodiscard]] bool exhausted() const { return ended && waiting.empty(); }
};

/// What compute() finds at one input.
struct ModelSelection {
  InputState state{InputState::kNotSelected};
  std::vector<std::uint64_t> sequences{};
  friend bool operator==(const ModelSelection&, const ModelSelection&) = default;
};

struct ModelActivation {
  std::int64_t activation_ns{0};  ///< As Activation::time.
  std::int64_t reference_ns{0};   ///< What selectors measured from.
  std::int64_t first_tick_ns{0};  ///< OnClock: the first of the ticks that this one stands for.
  std::vector<ModelSelection> inputs{};
  friend bool operator==(const ModelActivation&, const ModelActivation&) = default;
};

}  // namespace weftline::testing
