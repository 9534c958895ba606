// SPDX-License-Identifier: Apache-2.0
// What a running graph costs: a hop from one operator to the next in one lane and between lanes,
// what a steady state allocates and asks of the system, and whether twenty operators keep up with a
// clock of 10 kHz. Takes `--weftline-json FILE [--quick]`; see ci/bench.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "bench_graph.hpp"
#include "weftline/cuda/open_device.hpp"

namespace weftline::bench {
namespace {

std::vector<BenchRow> measure_all(bool quick) {
  std::vector<BenchRow> rows;
  for (const auto& measure :
       {measure_hops, measure_crossings, measure_steady_state, measure_diamond}) {
    std::ranges::move(measure(quick), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace

std::vector<std::uint32_t> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::uint32_t> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void settle_on_cpu(std::uint32_t number) {
  const std::vector<std::uint32_t> cpus = usable_cpus();
  if (number >= cpus.size()) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpus[number], &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

ExecutionPlan compiled(Graph& graph, const CompileOptions& options) {
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  ExecutionPlan plan = compile(graph, options);
  if (!plan.ok()) throw std::runtime_error(format_diagnostics(plan.diagnostics()));
  return plan;
}

void must_complete(const RunSession& session) {
  session.wait();
  if (session.termination() == RunTermination::kCompleted) return;
  std::string text = "a run ended as " + std::string(run_termination_name(session.termination()));
  for (const RunDiagnostic& diagnostic : session.diagnostics())
    text += "\n" + diagnostic.to_string();
  throw std::runtime_error(text);
}

void place(CompileOptions& options, std::string partition, WakeMode mode, std::uint32_t lane,
           std::uint32_t lanes) {
  ThreadPlacement placement;
  placement.wake_mode = mode;
  placement.probe_failure_policy = ProbeFailurePolicy::kWarnAndRecordFallback;
  const std::vector<std::uint32_t> cpus = usable_cpus();
  if (lanes <= cpus.size()) placement.affinity = CpuAffinity{{{cpus[lane], cpus[lane]}}};
  if (options.devices.host_cpu_count == 0) options.devices = capture_device_catalog();
  options.deployment.place_partition({std::move(partition), placement});
}

Percentiles percentiles_of(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("no samples were measured");
  std::ranges::sort(values);
  const auto at = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
  };
  return {at(0.5), at(0.99), at(0.999), values.back()};
}

std::string text_of(const Percentiles& percentiles, std::string_view unit) {
  char text[160];
  std::snprintf(text, sizeof text, "p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f %.*s", percentiles.p50,
                percentiles.p99, percentiles.p999, percentiles.max, static_cast<int>(unit.size()),
                unit.data());
  return text;
}

std::string placement_note(std::uint32_t lanes) {
  const std::vector<std::uint32_t> cpus = usable_cpus();
  const std::string count = std::to_string(cpus.size()) + " CPUs";
  if (lanes > cpus.size()) {
    return std::to_string(lanes) + " lanes share " + count + ", not placed";
  }
  std::string text = lanes == 1 ? "lane on CPU " : "lanes on CPUs ";
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    text += (lane > 0 ? "," : "") + std::to_string(cpus[lane]);
  }
  return text + " of " + count;
}

}  // namespace weftline::bench

int main(int argc, char** argv) {
  return weftline::testing::bench_main(argc, argv, weftline::bench::measure_all);
}
