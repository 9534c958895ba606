// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weftline/core/time.hpp"
#include "weftline/graph/authoring_snapshot.hpp"
#include "weftline/graph/contract_snapshot.hpp"
#include "weftline/graph/operator.hpp"
#include "weftline/graph/param_set.hpp"
#include "weftline/graph/topic.hpp"
#include "weftline/plan/plan_records.hpp"

namespace weftline {

/// Makes a fresh, not yet set up instance. Called at compile and again at each run; may be called
/// after the graph is gone.
using OperatorFactory = std::function<std::unique_ptr<OperatorBase>()>;
using ClockFactory = std::function<std::unique_ptr<Clock>()>;

/// Per-edge settings of `add_flow()`. An absent depth is the compiler's to choose; a given one is
/// exact.
struct ConnectionOptions {
  std::optional<std::uint32_t> queue_depth{};
  QueuePolicy queue_policy{QueuePolicy::kBlocking};
};

// A graph as the compiler sees it: values only, except the factories. Vertices, flows and topics
// are in authored order.

struct VertexSnapshot {
  std::string path{};
  std::string type_id{};
  std::uint32_t type_version{0};
  OperatorFactory factory{};
  ParamSet params{};
  std::vector<InputPortRecord> inputs{};
  std::vector<OutputPortRecord> outputs{};
  std::vector<OutputDerivationSnapshot> derivations{};  ///< By output, one each.
  /// Absent when the contract names none. The compiler fills in what it finds out.
  std::optional<TemporalTriggerPlanRecord> trigger{};
  ContractSnapshot contract{};
  /// Index into `partitions`; absent: the compiler places it.
  std::optional<std::uint32_t> authored_partition{};
};

struct FlowSnapshot {
  PortRef source{};
  PortRef target{};
  ConnectionOptions options{};
  std::string topic_name{};
};

struct ExportSnapshot {
  std::string uri{};
  TopicOptions options{};
  PayloadIdentity payload{};
  std::vector<PortRef> sources{};
};

struct ImportSnapshot {
  std::string uri{};
  TopicOptions options{};
  PayloadIdentity payload{};
  std::vector<PortRef> targets{};
};

struct ClockSnapshot {
  std::string name{};
  ClockFactory factory{};
  bool independent_progress{true};
  bool external_driver_admitted{false};
};

struct GraphSnapshot {
  std::string name{};
  std::vector<VertexSnapshot> vertices{};
  std::vector<FlowSnapshot> flows{};
  std::vector<ExportSnapshot> exports{};
  std::vector<ImportSnapshot> imports{};
  std::vector<std::string> partitions{};
  std::vector<ClockSnapshot> clocks{};
  std::optional<std::uint32_t> default_clock{};
  /// Index into `partitions`: the one that includes all.
  std::optional<std::uint32_t> include_all{};
  /// Every operator must be in an authored partition.
  bool exact_partitions{false};
  std::vector<GraphInstanceSnapshot> instances{};
  std::vector<RegionSnapshot> regions{};
  std::vector<PortOverrideSnapshot> port_overrides{};  ///< One a port at most.
  std::vector<LifecycleOrderRecord> lifecycle_order{};
  std::vector<RestartGrantSnapshot> restart_grants{};
};

}  // namespace weftline
