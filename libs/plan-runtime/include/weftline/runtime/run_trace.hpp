// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weftline/core/ids.hpp"
#include "weftline/graph/lifecycle_receipt.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

enum class TraceEventKind : std::uint8_t {
  kActivation = 0,  ///< From the selection of inputs to the end of compute().
  kEmit,            ///< Of an output; `value` is the sample's sequence.
  kReceive,         ///< An input took a sample for an activation; `value` is its sequence.
  kFenceRecord,     ///< An output's readiness was recorded on stream `value`.
  kFenceWait,       ///< Stream `value` waits for an input's readiness.
  kHostWait,        ///< The lane itself waited for an input's readiness.
  kRetirement,      ///< `value` slots of an output's pool were seen to be free again.
  kPark,            ///< The lane slept; `value` is 1 when another thread ended it.
  kStand,           ///< The lane stood between two activations, for a restart.
  kParams,          ///< The activation is the first with generation `value` of its parameters.
  kStage,           ///< A callback of the lifecycle; `value` is its LifecycleStage.
  kRestart,  ///< A restart of the operator and what starts after it; `value` is how it ended.
};

/// Something that a lane or the controller did, in nanoseconds of the machine's monotonic clock. A
/// moment begins and ends at the same time.
struct TraceEvent {
  TraceEventKind kind{TraceEventKind::kActivation};
  std::uint32_t port{0};  ///< Of the operator: input or output, as the kind says.
  VertexId vertex{};      ///< Not for kPark and kStand.
  std::int64_t begin_ns{0};
  std::int64_t end_ns{0};
  std::uint64_t value{0};
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};

/// The last events of one lane, in the order in which they ended.
struct LaneTrace {
  PartitionId partition{};
  std::vector<TraceEvent> events{};
  std::uint64_t overwritten{0};  ///< Older events that are gone.
};

/// The same of the thread that starts, restarts and ends operators: kStage and kRestart. A restart
/// lasts from the moment that lanes were asked to stand; its `value` is a
/// LifecycleTransactionState.
struct ControllerTrace {
  std::vector<TraceEvent> events{};
  std::uint64_t overwritten{0};
};

struct RunTrace {
  std::vector<LaneTrace> lanes{};
  ControllerTrace controller{};
};

/// The trace as Chrome and Perfetto open it: one track for each lane and stream and one for the
/// controller, activations named by their operators' paths, arrows from emits to receives. `plan`
/// is the one that was run.
[[nodiscard]] std::string chrome_trace_json(const PlanRecords& plan, const RunTrace& trace);

}  // namespace weftline
