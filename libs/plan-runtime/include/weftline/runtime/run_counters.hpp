// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/ids.hpp"
#include "weftline/core/time.hpp"
#include "weftline/runtime/latency_histogram.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

// A reading of a session's counters. Each number is exact at some moment during the call; together
// they are a snapshot good enough for people. Vectors are in the order of the plan's records.

struct OperatorCounters {
  VertexId vertex{};
  std::uint64_t activations{0};
  std::uint64_t skipped{0};          ///< Candidates that a missing sample suppressed.
  std::uint64_t late_starts{0};      ///< Beyond the contract's max_start_delay().
  std::uint64_t window_timeouts{0};  ///< Windows that ran because their wait was over.
  std::uint64_t coalesced_ticks{0};  ///< Clock ticks folded into a later one.
  std::uint64_t unaligned_drops{0};  ///< Heads that OnAligned gave up.
  std::uint64_t discarded{0};        ///< Samples that arrived after the operator had finished.
  std::uint64_t unread{0};           ///< Selected samples that compute() did not receive.
  /// Samples that no activation was given: older than what was selected, used up by a skipped
  /// candidate, the first anchor of OnWindow, or held for one that never came.
  std::uint64_t passed_over{0};
  std::uint64_t reused{0};  ///< Activations that saw an input's last selection again.
  std::uint64_t emits{0};
  std::uint64_t refused_emits{0};  ///< kBackpressured answers: a queue was full.
  std::uint64_t missing_peers{0};  ///< kNotReady answers: an export lacked its required peer.
  std::uint64_t refused_loans{0};  ///< kResourceExhausted answers.
  bool finished{false};
  /// Of compute() with the selection before it; absent unless the run keeps latencies.
  std::optional<LatencySummary> compute{};
};

struct EdgeCounters {
  EdgeId edge{};
  std::uint64_t pushed{0};
  std::uint64_t dropped{0};  ///< Overwritten by drop-oldest.
  std::uint32_t depth{0};
  std::uint32_t depth_high_water{0};
  /// From the emit to the activation that took the sample; absent unless the run keeps latencies.
  std::optional<LatencySummary> latency{};
};

enum class SlotPlace : std::uint8_t {
  kProducer = 0,  ///< The operator that borrowed it has not emitted it.
  kQueue,         ///< It waits on an edge.
  kConsumer,      ///< An operator took it, and may have dropped its handle since.
  kDevice,        ///< No handle is left, and a device has work on it.
  kNobody,        ///< Lost: its work can't be proven complete.
};

struct SlotHolder {
  SlotPlace place{SlotPlace::kProducer};
  std::string name{};  ///< An operator's path, or "source.out -> sink.in".
  /// When it was borrowed, or emitted to where it is now; on the default clock, like
  /// RunCounters::read_at.
  std::int64_t since_ns{0};
};

/// A slot that is out. Those who may have it are known, and how many handles there are; which
/// consumers have dropped theirs is not. Read while it changes hands, so it may mix two moments.
struct SlotHolding {
  std::uint32_t slot{0};
  std::uint32_t handles{0};
  std::vector<SlotHolder> holders{};
};

struct PoolCounters {
  PoolId pool{};
  TensorPoolUsage usage{};
  std::vector<SlotHolding> held{};
};

struct LaneCounters {
  PartitionId partition{};
  std::uint64_t spin_wakes{0};    ///< Times that work came while the thread still spun.
  std::uint64_t parks{0};         ///< Times the thread went to sleep.
  std::uint64_t wakes{0};         ///< Sleeps that another thread ended; others ended at a time.
  std::uint64_t device_polls{0};  ///< Sleeps that end soon as only a device could free a slot.
  /// Times the system took the thread's CPU because it waited, for whatever reason.
  std::uint64_t voluntary_switches{0};
};

struct ExportCounters {
  EndpointId endpoint{};
  std::uint32_t subscribers{0};
  std::uint64_t published{0};          ///< Samples with at least one recipient.
  std::uint64_t without_recipient{0};  ///< Samples emitted while no optional peer was there.
};

enum class ImportState : std::uint8_t {
  kOpen = 0,  ///< Takes what its producer sends, or waits for one.
  kFenced,    ///< A producer ended its stream, and another may follow it.
  kEnded,     ///< Its inputs see the end of the stream.
};

struct ImportCounters {
  EndpointId endpoint{};
  std::uint64_t received{0};
  std::uint32_t generation{1};  ///< Of the producer that is attached, or awaited.
  ImportState state{ImportState::kOpen};
};

/// Restart transactions of a session. Requests that were taken along by another count as coalesced
/// only.
struct RestartCounters {
  std::uint64_t committed{0};
  std::uint64_t rolled_back{0};
  std::uint64_t failed_stopped{0};
  std::uint64_t rejected{0};  ///< Those that operators were refused on the spot, too.
  std::uint64_t coalesced{0};
  /// From the moment that lanes were asked to stand still until they went on, the last time that an
  /// operator was touched.
  std::uint64_t last_duration_ns{0};
};

/// From the start of a source's compute() to the end of a sink's, for the oldest sample that went
/// into what the sink got. A source runs by itself, not for an input; at a sink no edge goes on.
struct PathCounters {
  VertexId source{};
  VertexId sink{};
  LatencySummary latency{};
};

struct RunCounters {
  TimePoint read_at{};
  std::vector<OperatorCounters> operators{};
  std::vector<EdgeCounters> edges{};
  std::vector<PoolCounters> pools{};
  std::vector<LaneCounters> lanes{};
  std::vector<ExportCounters> exports{};
  std::vector<ImportCounters> imports{};
  std::vector<PathCounters> paths{};  ///< Empty unless the run keeps latencies.
  RestartCounters restarts{};
};

}  // namespace weftline
