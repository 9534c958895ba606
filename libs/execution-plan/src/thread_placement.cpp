// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/thread_placement.hpp"

#include <cstddef>

#include "placement_names.hpp"

namespace weftline {
namespace {

constexpr std::int32_t kHighestPriority = 99;

auto refuse(std::string message) {
  return fail(ErrorCode::kInvalidArgument, "PLACEMENT_INVALID", std::move(message));
}

std::string show(CpuRange range) {
  std::string text = std::to_string(range.first);
  if (range.last != range.first) text.append("-").append(std::to_string(range.last));
  return text;
}

expected<void, Error> check_known(std::string_view what, std::string_view name) {
  if (name != "unknown") return {};
  return refuse(std::string(what) + " is outside its enum; use one of its enumerators");
}

expected<void, Error> check_scheduling(const ThreadScheduling& scheduling) {
  WEFTLINE_TRY(check_known("the scheduling policy", scheduling_policy_name(scheduling.policy)));
  const bool real_time = scheduling.policy != SchedulingPolicy::kOther;
  const std::int32_t low = real_time ? 1 : 0;
  const std::int32_t high = real_time ? kHighestPriority : 0;
  if (scheduling.priority >= low && scheduling.priority <= high) return {};
  return refuse("priority " + std::to_string(scheduling.priority) + " under policy " +
                std::string(scheduling_policy_name(scheduling.policy)) + "; give " +
                (real_time ? "1 to 99" : "0, or a real-time policy"));
}

}  // namespace

expected<void, Error> CpuAffinity::validate() const {
  if (ranges.empty()) return refuse("an affinity of no CPU; name one or leave the affinity out");
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const CpuRange range = ranges[i];
    if (range.first > range.last || range.last > kMaximumCpu) {
      return refuse("CPUs " + std::to_string(range.first) + " to " + std::to_string(range.last) +
                    "; give a range in ascending order, at most " + std::to_string(kMaximumCpu));
    }
    if (i > 0 && range.first <= ranges[i - 1].last) {
      return refuse("CPUs " + show(range) + " behind CPUs " + show(ranges[i - 1]) +
                    "; give ranges in ascending order, without a CPU in common");
    }
  }
  return {};
}

std::string CpuAffinity::to_string() const {
  std::string text;
  for (const CpuRange range : ranges) text.append(text.empty() ? "" : ",").append(show(range));
  return text;
}

expected<void, Error> ThreadPlacement::validate() const {
  if (affinity) {
    WEFTLINE_TRY(affinity->validate());
  }
  WEFTLINE_TRY(check_scheduling(scheduling));
  WEFTLINE_TRY(check_known("wake_mode", wake_mode_name(wake_mode)));
  WEFTLINE_TRY(check_known("irq_isolation", irq_isolation_name(irq_isolation)));
  WEFTLINE_TRY(
      check_known("probe_failure_policy", probe_failure_policy_name(probe_failure_policy)));
  if (affinity) return {};
  if (irq_isolation != IrqIsolation::kNotRequested) {
    return refuse("isolation from interrupts without an affinity; name the isolated CPUs");
  }
  if (wake_mode == WakeMode::kBusyPoll && scheduling.policy != SchedulingPolicy::kOther) {
    return refuse(
        "a real-time thread that polls without end, on any CPU; name the CPUs that it may have to "
        "itself");
  }
  return {};
}

}  // namespace weftline
