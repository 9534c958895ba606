// SPDX-License-Identifier: Apache-2.0
#include "session_threads.hpp"

#include <algorithm>
#include <thread>

#include "guarded.hpp"
#include "thread_placement.hpp"

namespace weftline::runtime {
namespace {

std::optional<ThreadPlacement> asked_for(const PlanRecords& plan, PartitionId partition) {
  const auto asked = std::ranges::find(plan.partition_placements, partition,
                                       &PartitionPlacementPlanRecord::partition);
  if (asked == plan.partition_placements.end()) return {};
  return asked->requested;
}

}  // namespace

std::optional<ThreadPlacement> asked_for(const PlanRecords& plan, SupportThreadRole role) {
  const auto asked = std::ranges::find(plan.support_thread_placements, role,
                                       &SupportThreadPlacementPlanRecord::role);
  if (asked == plan.support_thread_placements.end()) return {};
  ThreadPlacement placement;
  placement.affinity = asked->affinity;
  placement.probe_failure_policy = asked->probe_failure_policy;
  return placement;
}

std::string thread_name(SupportThreadRole role) {
  return role == SupportThreadRole::kController ? "the controller's thread"
                                                : "the channels' thread";
}

expected<void, Error> admit(SessionResources& resources, const ThreadPlacementReport& report) {
  resources.placements.push_back(report);
  std::vector<RunDiagnostic> warnings;
  auto admitted = admit_placement(report, warnings);
  for (RunDiagnostic& warning : warnings) {
    resources.control.warn(std::move(warning.place), std::move(warning.error));
  }
  return admitted;
}

expected<void, Error> make_threads(SessionBuild& build) {
  const auto& lanes = build.resources.lanes;
  const auto& partitions = build.plan().execution_partitions();
  const bool core_for_each_lane = std::thread::hardware_concurrency() >= lanes.size();
  for (std::size_t index = 0; index < lanes.size(); ++index) {
    WEFTLINE_TRY(build.at("partition " + partitions[index].name));
    WEFTLINE_TRY(guarded("RUN_THREAD_UNAVAILABLE", [&]() -> expected<void, Error> {
      lanes[index]->launch(asked_for(build.plan().records(), partitions[index].id),
                           core_for_each_lane);
      return {};
    }));
    WEFTLINE_TRY(admit(build.resources, lanes[index]->placement()));
  }
  return {};
}

void join_threads(SessionResources& resources) noexcept {
  for (const auto& lane : resources.lanes) lane->join();
}

}  // namespace weftline::runtime
