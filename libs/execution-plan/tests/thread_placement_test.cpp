// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/thread_placement.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>

namespace weftline {
namespace {

std::string refusal(const ThreadPlacement& placement) {
  const auto valid = placement.validate();
  if (valid) return {};
  CHECK(valid.error().code == ErrorCode::kInvalidArgument);
  CHECK(valid.error().token == "PLACEMENT_INVALID");
  return valid.error().message;
}

ThreadPlacement on(std::vector<CpuRange> ranges) {
  return {.affinity = CpuAffinity{std::move(ranges)}};
}

TEST_CASE("what asks for nothing is valid") { CHECK(refusal({}).empty()); }

TEST_CASE("CPUs are in ascending order and named once") {
  CHECK(refusal(on({{0, 0}})).empty());
  CHECK(refusal(on({{0, 3}, {4, 4}, {8, kMaximumCpu}})).empty());
  CHECK(refusal(on({})) == "an affinity of no CPU; name one or leave the affinity out");
  CHECK(refusal(on({{4, 3}})) == "CPUs 4 to 3; give a range in ascending order, at most 8191");
  CHECK(refusal(on({{0, kMaximumCpu + 1}})) ==
        "CPUs 0 to 8192; give a range in ascending order, at most 8191");
  CHECK_FALSE(refusal(on({{0, std::numeric_limits<std::uint32_t>::max()}})).empty());
  CHECK(refusal(on({{0, 3}, {3, 5}})) ==
        "CPUs 3-5 behind CPUs 0-3; give ranges in ascending order, without a CPU in common");
  CHECK_FALSE(refusal(on({{4, 5}, {0, 1}})).empty());
}

TEST_CASE("a priority is one that its policy has") {
  using Policy = SchedulingPolicy;
  const auto with = [](Policy policy, std::int32_t priority) {
    return refusal({.scheduling = {policy, priority}});
  };
  CHECK(with(Policy::kOther, 0).empty());
  CHECK(with(Policy::kOther, 1) == "priority 1 under policy other; give 0, or a real-time policy");
  for (const Policy policy : {Policy::kFifo, Policy::kRoundRobin}) {
    CHECK(with(policy, 1).empty());
    CHECK(with(policy, 99).empty());
    CHECK_FALSE(with(policy, 0).empty());
    CHECK_FALSE(with(policy, 100).empty());
    CHECK_FALSE(with(policy, -1).empty());
  }
  CHECK(with(static_cast<Policy>(3), 1) ==
        "the scheduling policy is outside its enum; use one of its enumerators");
}

TEST_CASE("values outside their enums are refused") {
  CHECK_FALSE(refusal({.wake_mode = static_cast<WakeMode>(3)}).empty());
  CHECK_FALSE(refusal({.irq_isolation = static_cast<IrqIsolation>(3)}).empty());
  CHECK_FALSE(refusal({.probe_failure_policy = static_cast<ProbeFailurePolicy>(2)}).empty());
}

TEST_CASE("isolation and real-time polling need CPUs by name") {
  CHECK_FALSE(refusal({.irq_isolation = IrqIsolation::kPreferIsolated}).empty());
  CHECK(refusal({.wake_mode = WakeMode::kBusyPoll}).empty());
  ThreadPlacement polling{.scheduling = {SchedulingPolicy::kFifo, 1},
                          .wake_mode = WakeMode::kBusyPoll};
  CHECK_FALSE(refusal(polling).empty());
  polling.affinity = CpuAffinity{{{2, 2}}};
  polling.irq_isolation = IrqIsolation::kRequireIsolated;
  CHECK(refusal(polling).empty());
}

}  // namespace
}  // namespace weftline
