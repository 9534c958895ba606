// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weftline/core/ids.hpp"
#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

// A reading of a session's counters. Each number is exact at some moment during the call; together
// they are a snapshot good enough for people. Vectors are in the order of the plan's records.

struct OperatorCounters {
  VertexId vertex{};
  std::uint64_t activations{0};
  std::uint64_t coalesced_ticks{0};  ///< Clock ticks folded into a later one.
  std::uint64_t unaligned_drops{0};  ///< Heads that OnAligned gave up.
  std::uint64_t discarded{0};        ///< Samples that arrived after the operator had finished.
  std::uint64_t unread{0};           ///< Selected samples that compute() did not receive.
  std::uint64_t emits{0};
  std::uint64_t refused_emits{0};  ///< kBackpressured or kNotReady answers.
  std::uint64_t refused_loans{0};  ///< kResourceExhausted answers.
  bool finished{false};
};

struct EdgeCounters {
  EdgeId edge{};
  std::uint64_t pushed{0};
  std::uint64_t dropped{0};  ///< Overwritten by drop-oldest.
  std::uint32_t depth{0};
  std::uint32_t depth_high_water{0};
};

struct PoolCounters {
  PoolId pool{};
  TensorPoolUsage usage{};
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
  std::uint64_t rejected{0};
  std::uint64_t coalesced{0};
  /// From the moment that lanes were asked to stand still until they went on, the last time that an
  /// operator was touched.
  std::uint64_t last_duration_ns{0};
};

struct RunCounters {
  std::vector<OperatorCounters> operators{};
  std::vector<EdgeCounters> edges{};
  std::vector<PoolCounters> pools{};
  std::vector<LaneCounters> lanes{};
  std::vector<ExportCounters> exports{};
  std::vector<ImportCounters> imports{};
  RestartCounters restarts{};
};

}  // namespace weftline
