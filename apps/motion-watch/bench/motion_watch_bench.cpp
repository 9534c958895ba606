// SPDX-License-Identifier: Apache-2.0
// The whole job against the plain loop in the same run: frames per second on one core and on two,
// and peak memory against the bytes that the plan declares. Takes `--weftline-json FILE [--quick]`;
// see ci/bench.
#include <malloc.h>
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "graph.hpp"
#include "plain_loop.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/runtime/run_session.hpp"
#include "weftline/testing/bench_main.hpp"

namespace motion_watch {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double plain_loop_fps(const SourceOptions& source) {
  auto opened = open_source(source);
  if (!opened) throw std::runtime_error(opened.error());
  const auto start = Clock::now();
  const std::uint64_t limit = source.frames == 0 ? ~std::uint64_t{0} : source.frames;
  const auto frames = run_plain_loop(**opened, limit, [](const MotionEvent&) {});
  if (!frames) throw std::runtime_error(frames.error());
  return static_cast<double>(*frames) / seconds_since(start);
}

/// For discovery records, so that no other job of this user is in the way.
class RuntimeFolder {
 public:
  RuntimeFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "motion-watch-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    path_ = name;
  }
  ~RuntimeFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  RuntimeFolder(const RuntimeFolder&) = delete;
  RuntimeFolder& operator=(const RuntimeFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct JobResult {
  double fps{0};
  std::uint64_t declared_bytes{0};
};

JobResult job(const JobOptions& options, const std::filesystem::path& runtime_folder) {
  const JobState state(options.geometry);
  const auto plan = compile_job(options, state, {});
  plan.require_no_errors();
  const auto start = Clock::now();
  const auto session = weftline::run_async(plan, {.channels = {.directory = runtime_folder}});
  session.wait();
  const double seconds = seconds_since(start);
  if (session.termination() != weftline::RunTermination::kCompleted) {
    throw std::runtime_error(session.diagnostics().empty() ? "stopped"
                                                           : session.diagnostics()[0].to_string());
  }
  JobResult result;
  result.fps = static_cast<double>(state.stats->completed()) / seconds;
  for (const auto& pool : plan.tensor_allocations()) result.declared_bytes += pool.total_bytes();
  return result;
}

/// Confines the process (threads to come included) to its first `count` processors.
void use_cores(const cpu_set_t& all, int count) {
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (int cpu = 0; cpu < CPU_SETSIZE && count > 0; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &chosen);
    --count;
  }
  sched_setaffinity(0, sizeof chosen, &chosen);
}

/// Peak resident bytes of this process since the last reset.
std::uint64_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
  }
  return 0;
}
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// Numbers as text with three decimals: ci/bench reads plain JSON numbers, which the canonical form
/// does not have.
std::vector<weftline::testing::BenchRow> measure(bool quick) {
  const char* video = std::getenv("WEFTLINE_SAMPLE_VIDEO");
  SourceOptions source;
  if (video != nullptr) source.input = video;
  source.frames = quick ? 200 : 795;
  auto opened = open_source(source);
  if (!opened) throw std::runtime_error(opened.error());
  const JobOptions options{
      source, (*opened)->geometry(), (*opened)->frame_rate(), std::nullopt, {}};
  opened->reset();

  const std::string what = std::string(video != nullptr ? "vtest.avi" : "synthetic scene") + ", " +
                           std::to_string(source.frames) + " frames";
  const int rounds = quick ? 3 : 5;
  const RuntimeFolder runtime;
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  std::vector<weftline::testing::BenchRow> rows;
  // First, while the process is fresh: what earlier runs had freed would hide what this one takes.
  malloc_trim(0);
  reset_peak();
  const std::uint64_t before = peak_resident_bytes();
  const JobResult result = job(options, runtime.path());
  const std::uint64_t grown = peak_resident_bytes() - before;
  constexpr double kMiB = 1024.0 * 1024.0;
  rows.push_back(
      {.name = "motion-watch peak memory",
       .unit = "MiB",
       .value = static_cast<double>(grown) / kMiB,
       .floor = static_cast<double>(result.declared_bytes) / kMiB,
       .note =
           "growth of the resident peak during the first run; floor: bytes of the plan's pools"});
  for (const int cores : {1, 2}) {
    if (CPU_COUNT(&all) < cores) continue;
    use_cores(all, cores);
    std::vector<double> plain;
    std::vector<double> graph;
    // In turn, so that a drift of the machine's speed meets both.
    for (int round = 0; round < rounds; ++round) {
      plain.push_back(plain_loop_fps(source));
      graph.push_back(job(options, runtime.path()).fps);
    }
    const std::string suffix = cores == 1 ? " on one core" : " on two cores";
    rows.push_back({.name = "motion-watch host" + suffix,
                    .unit = "frames/s",
                    .value = weftline::testing::median(graph),
                    .floor = weftline::testing::median(plain),
                    .target = cores == 1 ? "ratio >= 1" : "ratio > 1",
                    .note = what + ", --speed max, no recorder; floor: the plain loop, median of " +
                            std::to_string(rounds) + " in turn"});
  }
  return rows;
}

}  // namespace
}  // namespace motion_watch

int main(int argc, char** argv) {
  return weftline::testing::bench_main(argc, argv, motion_watch::measure);
}
