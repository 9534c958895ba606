// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

/// The events of the plain loop, without capture times.
inline std::vector<MotionEvent> plain_events(const SourceOptions& source) {
  auto opened = open_source(source);
  REQUIRE(opened);
  std::vector<MotionEvent> events;
  const std::uint64_t limit = source.frames == 0 ? ~std::uint64_t{0} : source.frames;
  const auto frames = run_plain_loop(**opened, limit, [&](const MotionEvent& event) {
    events.push_back(event);
    events.back().capture_time_ns = 0;
  });
  REQUIRE(frames);
  return events;
}

/// Runs the whole job with a subscriber beside it and returns what that received, without capture
/// times.
inline std::vector<MotionEvent> job_events(JobOptions options) {
  constexpr std::chrono::seconds kWatchdog{100};
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

  std::vector<MotionEvent> events;
  const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
  for (;;) {
    auto sample = subscriber->wait_and_receive_sample(deadline);
    if (!sample && sample.error().code == weftline::ErrorCode::kClosed) break;
    for (const auto& diagnostic : session.diagnostics()) UNSCOPED_INFO(diagnostic.to_string());
    REQUIRE(sample);
    events.push_back(sample->data);
    events.back().capture_time_ns = 0;
  }
  REQUIRE(session.wait_until(deadline));
  for (const auto& diagnostic : session.diagnostics()) UNSCOPED_INFO(diagnostic.to_string());
  REQUIRE(session.termination() == weftline::RunTermination::kCompleted);
  CHECK(state.stats->completed() == events.size());
  for (const auto& pool : session.counters().pools) CHECK(pool.usage.in_use == pool.usage.retiring);
  return events;
}

}  // namespace motion_watch
