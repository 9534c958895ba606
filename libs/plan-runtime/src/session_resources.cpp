// SPDX-License-Identifier: Apache-2.0
#include "session_resources.hpp"

#include "slot_holders.hpp"

namespace weftline::runtime {

void SessionResources::release_samples() noexcept {
  // A handle that a user keeps beyond the run must not wake a lane that is gone.
  for (const auto& pool : pools) pool->set_return_callback({});
  for (const auto& operation : operators) {
    operation->destroy_instance();
    operation->clear_inputs();
  }
  for (const auto& edge : edges) edge->clear();
  for (const auto& queue : import_queues) queue->clear();
}

void SessionResources::synchronize_streams() noexcept {
  for (const Stream& stream : *streams) {
    auto done = stream.ref().device()->synchronize(stream.ref());
    if (!done) control.fail(stream.ref().device()->id().to_string(), std::move(done).error());
  }
}

RunCounters SessionResources::counters() const {
  RunCounters counters;
  for (const ClockPlanRecord& clock : plan.records().clocks) {
    if (!clock.is_default || clock.id.value >= clocks.size()) continue;
    counters.read_at = {clocks[clock.id.value]->now_ns(), clock.id};
  }
  for (const auto& operation : operators) {
    counters.operators.push_back(operation->counters());
  }
  for (std::size_t index = 0; index < edges.size(); ++index) {
    const auto& edge = *edges[index];
    counters.edges.push_back({.edge = plan.payload_edges()[index].edge,
                              .pushed = edge.pushed(),
                              .dropped = edge.dropped(),
                              .depth = edge.depth_now(),
                              .depth_high_water = edge.depth_high_water()});
  }
  for (std::size_t index = 0; index < pools.size(); ++index) {
    const auto& record = plan.tensor_allocations()[index];
    counters.pools.push_back(
        {record.id, pools[index]->usage(),
         name_holders(plan.records(), arms, record.output, pools[index]->held_slots())});
  }
  for (const auto& lane : lanes) counters.lanes.push_back(lane->counters());
  for (const auto& arm : exports) counters.exports.push_back(arm->counters());
  for (const auto& import : imports) counters.imports.push_back(import->counters());
  if (observation) observation->read(counters);
  counters.restarts = desk->counters();
  return counters;
}

}  // namespace weftline::runtime
