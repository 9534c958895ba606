// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contact_sheet.hpp"
#include "event_type.hpp"
#include "graph.hpp"
#include "plain_loop.hpp"
#include "synthetic_scene.hpp"
#include "weftline/channel/channel_runtime.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/plan/diagnostic.hpp"
#include "weftline/runtime/run_session.hpp"

namespace motion_watch {

/// A folder for discovery records that goes with the test.
class RuntimeFolder {
 public:
  RuntimeFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "motion-watch-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~RuntimeFolder() { std::filesystem::remove_all(path_); }
  weftline::ChannelRuntimeOptions options() const { return {.directory = path_}; }

 private:
  std::filesystem::path path_{};
};

/// The source that the job's own source operator opens.
inline JobOptions job_options(const SourceOptions& source,
                              std::optional<weftline::DeviceId> device) {
  auto opened = open_source(source);
  REQUIRE(opened);
  return {source, (*opened)->geometry(), (*opened)->frame_rate(), device,
          std::chrono::milliseconds(0)};
}

/// What a job gives, events without their capture times.
struct JobOutcome {
  std::vector<MotionEvent> events{};
  RgbImage sheet{};
  std::uint64_t dropped{0};
};

inline void check_same(const JobOutcome& job, const JobOutcome& wanted) {
  CHECK(job.events == wanted.events);
  CHECK(job.sheet.geometry == wanted.sheet.geometry);
  // Not the vectors themselves: a failure would print them.
  const auto [at, wanted_at] = std::ranges::mismatch(job.sheet.pixels, wanted.sheet.pixels);
  CHECK(at - job.sheet.pixels.begin() == std::ssize(job.sheet.pixels));
}

/// What the plain loop makes of all frames that `wants` takes.
inline JobOutcome plain_outcome(
    const SourceOptions& source,
    const std::function<bool(std::uint64_t)>& wants = [](std::uint64_t) { return true; }) {
  auto opened = open_source(source);
  REQUIRE(opened);
  FrameSource& frames = **opened;
  PlainLoop loop(frames.geometry());
  ContactSheet sheet(frames.geometry().half());
  JobOutcome outcome;
  std::vector<std::uint8_t> rgb(frames.geometry().rgb_bytes());
  for (std::uint64_t id = 0; source.frames == 0 || id < source.frames; ++id) {
    const auto more = frames.read_into(rgb);
    REQUIRE(more);
    if (!*more) break;
    if (!wants(id)) continue;
    loop.process(rgb, outcome.events.emplace_back());
    outcome.events.back().frame_id = id;
    loop.draw_preview(rgb);
    sheet.add(id, loop.preview(), loop.mask());
  }
  outcome.sheet = sheet.render();
  return outcome;
}

/// Runs the whole job with a subscriber beside it and returns what that received, and the sheet.
inline JobOutcome job_outcome(JobOptions options) {
  constexpr std::chrono::seconds kWatchdog{280};  // a sanitizer makes a frame take 0.1 s
  const RuntimeFolder folder;
  options.attach_wait = std::chrono::milliseconds(60'000);
  const JobState state(options.geometry);
  const auto plan = compile_job(options, state, weftline::capture_device_catalog());
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  auto runtime = weftline::ChannelRuntime::create(folder.options());
  REQUIRE(runtime);
  auto subscriber =
      runtime->create_subscriber<MotionEvent>(plan.endpoint_catalog(), kEventsEndpoint);
  REQUIRE(subscriber);
  const auto session = weftline::run_async(plan, {.channels = folder.options()});

  JobOutcome outcome;
  const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
  for (;;) {
    auto sample = subscriber->wait_and_receive_sample(deadline);
    if (!sample && sample.error().code == weftline::ErrorCode::kClosed) break;
    for (const auto& diagnostic : session.diagnostics()) UNSCOPED_INFO(diagnostic.to_string());
    REQUIRE(sample);
    outcome.events.push_back(sample->data);
    outcome.events.back().capture_time_ns = 0;
  }
  REQUIRE(session.wait_until(deadline));
  for (const auto& diagnostic : session.diagnostics()) UNSCOPED_INFO(diagnostic.to_string());
  REQUIRE(session.termination() == weftline::RunTermination::kCompleted);
  CHECK(state.stats->completed() == outcome.events.size());
  for (const auto& pool : session.counters().pools) CHECK(pool.usage.in_use == pool.usage.retiring);
  outcome.sheet = state.sheet->render();
  outcome.dropped = state.stats->dropped();
  return outcome;
}

}  // namespace motion_watch
