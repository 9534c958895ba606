// SPDX-License-Identifier: Apache-2.0
#include "thread_placement.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <thread>

#include "placed_thread.hpp"

using namespace weftline;
using runtime::admit_placement;
using runtime::common_cpus;
using runtime::parse_cpu_list;
using runtime::place_this_thread;
using runtime::PlacedThread;

namespace {

/// On a thread of its own: a placement stays on the thread that took it.
ThreadPlacementReport placed(const std::optional<ThreadPlacement>& asked) {
  ThreadPlacementReport report;
  std::thread([&] { report = place_this_thread("it", asked); }).join();
  return report;
}

CpuAffinity own_cpus() { return placed({}).observed.affinity; }

/// The first one that this process may use.
CpuAffinity one_cpu() {
  const std::uint32_t cpu = own_cpus().ranges.at(0).first;
  return {{{cpu, cpu}}};
}

}  // namespace

TEST_CASE("the kernel's lists of CPUs are read, and nothing else is") {
  CHECK(parse_cpu_list("")->ranges.empty());
  CHECK(*parse_cpu_list("3") == CpuAffinity{{{3, 3}}});
  CHECK(*parse_cpu_list("0-3,8,10-11") == CpuAffinity{{{0, 3}, {8, 8}, {10, 11}}});
  for (const char* bad : {"x", "1-", "-1", "1,", ",1", "3-1", "1,1", "1;2", "99999", "1 "}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_cpu_list(bad).has_value());
  }
}

TEST_CASE("the CPUs in common are those that both sets have") {
  CHECK(common_cpus({{{0, 3}, {8, 9}}}, {{{2, 8}}}) == CpuAffinity{{{2, 3}, {8, 8}}});
  CHECK(common_cpus({{{0, 3}}}, {{{4, 8191}}}).ranges.empty());
  CHECK(common_cpus({}, {{{0, 8191}}}).ranges.empty());
}

TEST_CASE("a thread that nobody places says where it is") {
  const ThreadPlacementReport report = placed({});
  CHECK(report.thread == "it");
  CHECK(report.requested == ThreadPlacement{});
  CHECK(report.refused.empty());
  CHECK(report.observed.thread_id != 0);
  CHECK(report.observed.affinity.validate().has_value());
  CHECK(report.observed.affinity.last_cpu() >= report.observed.cpu);
}

TEST_CASE("a thread gets one CPU, and runs on it") {
  const ThreadPlacement asked{.affinity = one_cpu()};
  const ThreadPlacementReport report = placed(asked);
  CHECK(report.refused.empty());
  CHECK(report.accepted == asked);
  CHECK(report.observed.affinity == asked.affinity);
  CHECK(report.observed.cpu == asked.affinity->last_cpu());
}

TEST_CASE("CPUs beyond the machine are refused by name") {
  const ThreadPlacementReport report =
      placed(ThreadPlacement{.affinity = CpuAffinity{{{kMaximumCpu - 1, kMaximumCpu}}}});
  REQUIRE(report.refused.size() == 1);
  CHECK(report.refused[0].token == "RUN_AFFINITY_REFUSED");
  CHECK(report.refused[0].message.starts_with(
      "asked for CPUs 8190-8191, this process may use none of them (Invalid argument); it has "));
  CHECK_FALSE(report.accepted.affinity.has_value());
  CHECK(report.observed.affinity == own_cpus());
}

TEST_CASE("of CPUs that are there in part, the part is taken and the rest refused") {
  const ThreadPlacementReport report =
      placed(ThreadPlacement{.affinity = CpuAffinity{{{0, kMaximumCpu}}}});
  REQUIRE(report.refused.size() == 1);
  CHECK(report.refused[0].token == "RUN_AFFINITY_REFUSED");
  CHECK(report.refused[0].message.find("this process may use only CPUs ") != std::string::npos);
  CHECK(report.accepted.affinity == report.observed.affinity);
}

TEST_CASE("isolation is what the kernel says, and missing where it says less") {
  ThreadPlacement asked{.affinity = one_cpu(), .irq_isolation = IrqIsolation::kRequireIsolated};
  ThreadPlacementReport report = placed(asked);
  const bool isolated = report.observed.isolated == asked.affinity;
  CHECK(report.refused.empty() == isolated);
  if (isolated) return;
  CHECK(report.refused[0].token == "RUN_ISOLATION_MISSING");
  CHECK(report.accepted.irq_isolation == IrqIsolation::kNotRequested);
  std::vector<RunDiagnostic> warnings;
  CHECK_FALSE(admit_placement(report, warnings).has_value());
  CHECK(warnings.empty());

  report.requested.irq_isolation = IrqIsolation::kPreferIsolated;
  CHECK(admit_placement(report, warnings).has_value());
  CHECK(warnings.size() == 1);
}

TEST_CASE("what a placement may go without is a warning, and a failure where it may not") {
  ThreadPlacementReport report{.thread = "it"};
  report.refused.push_back({ErrorCode::kNotSupported, "RUN_AFFINITY_REFUSED", "why", 0});
  report.refused.push_back({ErrorCode::kPermissionDenied, "RUN_SCHEDULING_REFUSED", "why", 0});
  std::vector<RunDiagnostic> warnings;
  const auto failed = admit_placement(report, warnings);
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().token == "RUN_AFFINITY_REFUSED");

  report.requested.probe_failure_policy = ProbeFailurePolicy::kWarnAndRecordFallback;
  CHECK(admit_placement(report, warnings).has_value());
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[1].place == "it");
  CHECK(warnings[1].error.token == "RUN_SCHEDULING_REFUSED");
}

TEST_CASE("a placed thread does not work before it is started") {
  std::atomic<int> worked{0};
  PlacedThread thread;
  thread.launch("it", {}, [&] { worked.store(1); });
  CHECK(thread.report().thread == "it");
  CHECK(worked.load() == 0);
  thread.start();
  thread.join();
  CHECK(worked.load() == 1);
}

TEST_CASE("a placed thread that is never started ends without its work") {
  std::atomic<int> worked{0};
  {
    PlacedThread thread;
    thread.launch("it", {}, [&] { worked.store(1); });
  }
  CHECK(worked.load() == 0);
  PlacedThread never_launched;
  never_launched.join();
}

TEST_CASE("voluntary switches are those of a thread that lives") {
  const auto own = runtime::voluntary_switches(placed({}).observed.thread_id);
  CHECK_FALSE(own.has_value());
  PlacedThread thread;
  thread.launch("it", {}, [] {});
  CHECK(runtime::voluntary_switches(thread.report().observed.thread_id).has_value());
}
