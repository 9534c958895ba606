// SPDX-License-Identifier: Apache-2.0
//
// Needs: partitions; the deployment's placements; the number of the target's CPUs.
// Adds: what is asked for the threads of named partitions and for support threads; errors for
// placements of partitions that have no name, for values that no thread can have, and for CPUs that
// the target does not have. Whether a thread can have what is asked for, only its run can tell.

#include <map>
#include <string>
#include <utility>

#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

class ThreadPlacements {
 public:
  explicit ThreadPlacements(CompileState& state) : state_(state) {
    for (const ExecutionPartitionRecord& partition : state.plan.execution_partitions) {
      if (partition.origin != ExecutionPartitionOrigin::kAuthored) continue;
      partitions_.emplace(partition.name, partition.id);
    }
  }

  void place() {
    std::map<PartitionId, PartitionPlacementPlanRecord> lanes;
    for (const PartitionPlacement& asked : state_.options.deployment.partitions()) {
      const std::string where = "partition " + asked.partition;
      const auto found = partitions_.find(asked.partition);
      if (found == partitions_.end()) {
        state_.error("PLACEMENT_PARTITION_UNKNOWN", where,
                     "a thread placement names partition \"" + asked.partition +
                         "\", which names no operators of the graph",
                     "name an authored partition; automatic ones have no name to place them by");
        continue;
      }
      const auto& affinity = asked.placement.affinity;
      if (!admits(where, asked.placement.validate()) || (affinity && !has_cpus(where, *affinity))) {
        continue;
      }
      if (!lanes.try_emplace(found->second, found->second, asked.partition, asked.placement)
               .second) {
        twice(where);
      }
    }
    for (auto& lane : lanes) {
      state_.plan.partition_placements.push_back(std::move(lane.second));
    }
    place_support_threads();
  }

 private:
  void place_support_threads() {
    std::map<SupportThreadRole, SupportThreadPlacementPlanRecord> threads;
    for (const SupportThreadPlacement& asked : state_.options.deployment.support_threads()) {
      const auto role = static_cast<unsigned>(asked.role);
      const std::string where = "support thread " + std::to_string(role);
      ThreadPlacement values{.affinity = asked.affinity};
      values.probe_failure_policy = asked.probe_failure_policy;
      expected<void, Error> valid = values.validate();
      if (asked.role > SupportThreadRole::kChannelPump) {
        valid = fail(ErrorCode::kInvalidArgument, "PLACEMENT_INVALID",
                     "the role is outside its enum; use one of its enumerators");
      }
      if (!admits(where, valid) || !has_cpus(where, asked.affinity)) continue;
      if (!threads.try_emplace(asked.role, asked.role, asked.affinity, asked.probe_failure_policy)
               .second) {
        twice(where);
      }
    }
    for (auto& thread : threads) {
      state_.plan.support_thread_placements.push_back(std::move(thread.second));
    }
  }

  bool admits(const std::string& where, const expected<void, Error>& valid) {
    if (valid) return true;
    state_.error("PLACEMENT_INVALID", where, "the placement asks for " + valid.error().message, {});
    return false;
  }

  bool has_cpus(const std::string& where, const CpuAffinity& affinity) {
    const std::uint32_t cpus = state_.options.devices.host_cpu_count;
    if (affinity.last_cpu() < cpus) return true;
    state_.error(
        "PLACEMENT_CPU_UNKNOWN", where,
        "the placement asks for CPUs " + affinity.to_string() + ", CompileOptions::devices has " +
            (cpus == 0 ? std::string("no CPU count") : "CPUs 0 to " + std::to_string(cpus - 1)),
        "name CPUs of the target, or compile with its device catalog");
    return false;
  }

  void twice(const std::string& where) {
    state_.error("PLACEMENT_DUPLICATE", where, "its thread is placed twice", "place it once");
  }

  CompileState& state_;
  std::map<std::string, PartitionId> partitions_{};
};

}  // namespace

void place_threads(CompileState& state) { ThreadPlacements(state).place(); }

}  // namespace weftline::passes
