// SPDX-License-Identifier: Apache-2.0
//
// Needs: edges, outputs.
// Adds: the depth of every queue; errors for depths that can't work.
//
// A depth that the author gives is exact. Otherwise a queue holds two activations' worth of its
// producer, so that one can be received while the next is emitted, and at least 4.
// A blocking queue can't be shallower than one activation's worth: emission is all or nothing, so
// such an activation would never find room. A drop-oldest queue may be: it makes its own room.
//
// Legs of a fork that meet again need no depth of their own. An input-driven operator runs only
// when its outputs have room, so what a leg holds moves on by itself until it reaches the meeting
// operator; a full short leg holds back the fork, never the longer leg. That counts on a leg that
// emits for what it takes: one that thins out its samples needs, on the leg beside it, a depth for
// as many samples as it swallows, which only its author knows.

#include <algorithm>
#include <string>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

constexpr std::uint64_t kMinimumDefaultDepth = 4;
constexpr std::uint64_t kMaximumDepth = 65'536;

void size_queue(CompileState& state, PayloadEdgePlanRecord& edge) {
  const std::uint64_t burst = state.output(edge.source).max_emits_per_compute;
  const bool blocking = edge.queue_policy == QueuePolicy::kBlocking;
  const std::uint64_t floor = blocking ? std::max<std::uint64_t>(burst, 1) : 1;
  const bool given = edge.depth_origin == QueueDepthOrigin::kExplicit;
  const std::uint64_t depth =
      given ? edge.queue_depth
            : std::max(floor, std::min(std::max(kMinimumDefaultDepth, 2 * burst), kMaximumDepth));
  if (depth > kMaximumDepth) {
    state.error("QUEUE_DEPTH_TOO_LARGE", state.edge_name(edge),
                "the queue would have a depth of " + std::to_string(depth) + ", the limit is " +
                    std::to_string(kMaximumDepth),
                given ? "give a smaller ConnectionOptions::queue_depth"
                      : "lower the output's max_emits_per_compute");
  } else if (depth < floor) {
    state.error("QUEUE_DEPTH_BELOW_FLOOR", state.edge_name(edge),
                "a queue of depth " + std::to_string(depth) + " can't hold the " +
                    std::to_string(floor) + " samples that one activation may emit",
                "give ConnectionOptions::queue_depth " + std::to_string(floor) +
                    " or more, or leave it out");
  }
  edge.queue_depth = static_cast<std::uint32_t>(depth);
}

}  // namespace

void size_queues(CompileState& state) {
  for (PayloadEdgePlanRecord& edge : state.plan.payload_edges) size_queue(state, edge);
}

}  // namespace weftline::passes
