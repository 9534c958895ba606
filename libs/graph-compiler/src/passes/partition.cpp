// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with their triggers, edges, the order of the flow.
// Adds: the partitions, each operator's partition and the reason for it; which edges lead from one
// partition to another; errors for operators outside of what the author wants covered, a warning
// for authored partitions without operators.
//
// Operators that no authored partition names are placed along the flow: one without inputs, or
// with a clock or readiness source for a trigger, starts a lane of its own, one that continues a
// linear chain joins the lane of its producer, and each leg of a fork and each meeting of flows
// starts a lane. Authored lanes stay as they were written: no other operator joins them. What takes
// from another process starts a lane, too. An exported topic is no leg: sending takes no lane.

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

using Kind = PartitionDecisionKind;
using Reason = PartitionDecisionReason;

constexpr std::string_view kAlgorithm = "source_chain";
constexpr std::uint32_t kAlgorithmVersion = 1;

/// Such an operator is a root of its own, whatever it takes from others when it runs.
bool runs_by_itself(TemporalRecordTriggerKind trigger) {
  using Triggers = TemporalRecordTriggerKind;
  return trigger == Triggers::kClock ||
         (trigger >= Triggers::kReadable && trigger <= Triggers::kSpin);
}

class Partitioner {
 public:
  explicit Partitioner(CompileState& state)
      : state_(state), chain_head_(state.plan.operators.size()) {
    state.plan.partition_decisions.resize(state.plan.operators.size());
  }

  void decide() {
    for (const VertexId vertex : state_.topological_order) {
      const auto named = state_.graph.vertices[vertex.value].authored_partition;
      if (state_.graph.include_all) {
        record(vertex, Kind::kAuthored, Reason::kWholeRoot,
               "partition " + state_.graph.partitions[*state_.graph.include_all] + " includes all");
      } else if (named) {
        record(vertex, Kind::kAuthored, Reason::kAuthoredPartition,
               "named in partition " + state_.graph.partitions[*named]);
      } else {
        place(vertex);
      }
      if (!chain_head_[vertex.value].valid()) chain_head_[vertex.value] = vertex;
    }
  }

  void make_partitions() {
    auto& partitions = state_.plan.execution_partitions;
    const auto& names = state_.graph.partitions;
    std::vector<bool> has_members(names.size(), false);
    std::vector<bool> is_named(names.size(), false);
    for (const OperatorPlanRecord& op : state_.plan.operators) {
      if (const auto authored = authored_index(op.id)) has_members[*authored] = true;
      if (const auto named = state_.graph.vertices[op.id.value].authored_partition) {
        is_named[*named] = true;
      }
    }
    std::vector<PartitionId> authored_id(names.size());
    for (std::uint32_t index = 0; index < names.size(); ++index) {
      if (!has_members[index]) {
        if (is_named[index]) continue;
        state_.warning("PARTITION_EMPTY", "partition " + names[index],
                       "the partition has no operator and is left out",
                       "add() operators to it, or do not name it");
        continue;
      }
      authored_id[index] = PartitionId{static_cast<std::uint32_t>(partitions.size())};
      partitions.push_back(
          {authored_id[index], ExecutionPartitionOrigin::kAuthored, names[index], {}});
    }
    state_.plan.partitioning.authored_partition_count =
        static_cast<std::uint32_t>(partitions.size());
    std::vector<PartitionId> automatic_id(chain_head_.size());
    for (const OperatorPlanRecord& op : state_.plan.operators) {
      if (authored_index(op.id) || chain_head_[op.id.value] != op.id) continue;
      automatic_id[op.id.value] = PartitionId{static_cast<std::uint32_t>(partitions.size())};
      partitions.push_back(
          {automatic_id[op.id.value], ExecutionPartitionOrigin::kAutomatic, "auto:" + op.path, {}});
    }
    for (const VertexId vertex : state_.topological_order) {
      const auto authored = authored_index(vertex);
      const PartitionId id =
          authored ? authored_id[*authored] : automatic_id[chain_head_[vertex.value].value];
      state_.op(vertex).partition = id;
      partitions[id.value].members.push_back(vertex);
    }
  }

  void check_cover() {
    const auto& include_all = state_.graph.include_all;
    for (const OperatorPlanRecord& op : state_.plan.operators) {
      const auto named = state_.graph.vertices[op.id.value].authored_partition;
      if (include_all && named && named != include_all) {
        state_.error("PARTITION_INCLUDE_ALL_CONFLICT", op.path,
                     "partition " + state_.graph.partitions[*include_all] +
                         " includes all, but the operator is named in partition " +
                         state_.graph.partitions[*named],
                     "name no other partition, or do not call include_all()");
      }
      if (state_.graph.exact_partitions && !authored_index(op.id)) {
        state_.error("PARTITION_UNCOVERED", op.path,
                     "no authored partition names the operator, and the graph requires exact "
                     "partitions",
                     "add() it to a partition, or do not call require_exact_partitions()");
      }
    }
  }

  void record_mode() {
    PartitioningPlanRecord& record = state_.plan.partitioning;
    record.algorithm = kAlgorithm;
    record.algorithm_version = kAlgorithmVersion;
    if (state_.graph.include_all) {
      record.mode = PartitioningMode::kIncludeAll;
    } else if (state_.graph.exact_partitions) {
      record.mode = PartitioningMode::kExact;
    } else if (record.authored_partition_count > 0) {
      record.mode = PartitioningMode::kHybrid;
    }
  }

 private:
  [[nodiscard]] std::optional<std::uint32_t> authored_index(VertexId vertex) const {
    if (state_.graph.include_all) return state_.graph.include_all;
    return state_.graph.vertices[vertex.value].authored_partition;
  }

  void record(VertexId vertex, Kind kind, Reason code, std::string reason) {
    state_.plan.partition_decisions[vertex.value] = {vertex, kind, std::move(reason), code};
  }

  void place(VertexId vertex) {
    const auto& incoming = state_.incoming[vertex.value];
    std::size_t imported = 0;
    const ImportSnapshot* import = nullptr;
    const auto begin = state_.imports_into.lower_bound({vertex, 0});
    for (auto each = begin; each != state_.imports_into.end() && each->first.vertex == vertex;
         ++each) {
      imported += each->second.size();
      import = &state_.graph.imports[each->second.front()];
    }
    if (incoming.size() + imported > 1 && import != nullptr) {
      record(vertex, Kind::kFanInSplit, Reason::kFanIn,
             std::to_string(incoming.size() + imported) + " flows meet here, " +
                 std::to_string(imported) + " of them from other processes");
      return;
    }
    if (import != nullptr) {
      record(vertex, Kind::kBoundarySplit, Reason::kExternalEndpointBoundary,
             "takes from another process by " + import->uri);
      return;
    }
    if (incoming.empty()) {
      record(vertex, Kind::kStart, Reason::kIndependentReadinessRoot, "nothing leads here");
      return;
    }
    if (runs_by_itself(state_.op(vertex).trigger.kind)) {
      record(vertex, Kind::kStart, Reason::kReadinessIsolation,
             "runs by its own clock or source, not with what leads here");
      return;
    }
    if (incoming.size() > 1) {
      record(vertex, Kind::kFanInSplit, Reason::kFanIn,
             std::to_string(incoming.size()) + " flows meet here");
      return;
    }
    const VertexId producer = state_.plan.payload_edges[incoming.front()].source.vertex;
    const std::string& path = state_.op(producer).path;
    const std::size_t legs = state_.outgoing[producer.value].size();
    if (legs > 1) {
      record(vertex, Kind::kFanOutLegSplit, Reason::kFanOutLeg,
             "one of " + std::to_string(legs) + " legs behind " + path);
    } else if (const auto authored = authored_index(producer)) {
      record(vertex, Kind::kBoundarySplit, Reason::kAuthoredNeighbour,
             "behind " + path + ", which is in the authored partition " +
                 state_.graph.partitions[*authored]);
    } else if (!chain_head_[producer.value].valid()) {
      record(vertex, Kind::kCollapseRejected, Reason::kFlowLoop,
             "flows lead in a loop through " + path);
    } else {
      chain_head_[vertex.value] = chain_head_[producer.value];
      record(vertex, Kind::kJoin, Reason::kLinearChain, "continues the chain of " + path);
    }
  }

  CompileState& state_;
  /// By vertex: the first vertex of the chain that it belongs to; invalid before its turn.
  std::vector<VertexId> chain_head_;
};

}  // namespace

void partition(CompileState& state) {
  Partitioner partitioner(state);
  partitioner.decide();
  partitioner.make_partitions();
  partitioner.check_cover();
  partitioner.record_mode();
  for (PayloadEdgePlanRecord& edge : state.plan.payload_edges) {
    edge.crosses_partitions =
        state.op(edge.source.vertex).partition != state.op(edge.target.vertex).partition;
    if (!edge.crosses_partitions) continue;
    state.plan.schedule_edges.push_back({.edge = edge.edge,
                                         .source = state.op(edge.source.vertex).partition,
                                         .destination = state.op(edge.target.vertex).partition});
  }
}

}  // namespace weftline::passes
