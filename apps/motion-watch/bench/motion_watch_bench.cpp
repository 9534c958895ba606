// SPDX-License-Identifier: Apache-2.0
// The whole job against the plain loop in the same run: frames per second on one core and on two,
// and peak memory against the bytes that the plan declares. Takes `--weftline-json FILE [--quick]`;
// see ci/bench.
#include <malloc.h>
#include <sched.h>

#include <algorithm>
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
#include "weftline/core/json.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/runtime/run_session.hpp"

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

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
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
std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string row(const std::string& name, const std::string& unit, double value, double floor,
                const std::string& target, const std::string& note) {
  const auto quoted = [](const std::string& text) { return weftline::JsonValue(text).dump(); };
  return "{\"name\":" + quoted(name) + ",\"unit\":" + quoted(unit) + ",\"value\":" + number(value) +
         ",\"floor\":" + number(floor) + ",\"ratio\":" + number(value / floor) +
         ",\"target\":" + quoted(target) + ",\"note\":" + quoted(note) + "}";
}

std::vector<std::string> measure(bool quick) {
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
  std::vector<std::string> rows;
  // First, while the process is fresh: what earlier runs had freed would hide what this one takes.
  malloc_trim(0);
  reset_peak();
  const std::uint64_t before = peak_resident_bytes();
  const JobResult result = job(options, runtime.path());
  const std::uint64_t grown = peak_resident_bytes() - before;
  constexpr double kMiB = 1024.0 * 1024.0;
  rows.push_back(
      row("motion-watch peak memory", "MiB", static_cast<double>(grown) / kMiB,
          static_cast<double>(result.declared_bytes) / kMiB, "none",
          "growth of the resident peak during the first run; floor: bytes of the plan's pools"));
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
    rows.push_back(row("motion-watch host" + suffix, "frames/s", median(graph), median(plain),
                       cores == 1 ? "ratio >= 1" : "ratio > 1",
                       what + ", --speed max, no recorder; floor: the plain loop, median of " +
                           std::to_string(rounds) + " in turn"));
  }
  return rows;
}

}  // namespace
}  // namespace motion_watch

int main(int argc, char** argv) {
  std::string json;
  bool quick = false;
  for (int index = 1; index < argc; ++index) {
    const std::string argument = argv[index];
    if (argument == "--quick") {
      quick = true;
    } else if (argument == "--weftline-json" && index + 1 < argc) {
      json = argv[++index];
    } else {
      std::fprintf(stderr, "usage: %s --weftline-json FILE [--quick]\n", argv[0]);
      return 2;
    }
  }
  try {
    const auto rows = motion_watch::measure(quick);
    std::string text = "[";
    for (const auto& each : rows) text += (text.size() > 1 ? ",\n" : "\n") + each;
    text += "\n]\n";
    if (json.empty()) {
      std::fputs(text.c_str(), stdout);
    } else {
      std::ofstream(json) << text;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
