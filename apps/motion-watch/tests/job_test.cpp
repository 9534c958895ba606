// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdlib>

#include "job_harness.hpp"

using namespace motion_watch;

namespace {

const weftline::DeviceId kEmulated{weftline::DeviceKind::kEmulated, 0};

}  // namespace

TEST_CASE(
    "the graph gives the same events and pictures as a plain loop, on the host and on an emulated "
    "device") {
  // The sheet holds every picture of a short run, and some of a long one.
  const std::uint64_t frames = GENERATE(std::uint64_t{12}, std::uint64_t{120});
  const SourceOptions source{.input = {}, .frames = frames, .realtime = false};
  const JobOutcome wanted = plain_outcome(source);
  REQUIRE(wanted.events.size() == frames);
  check_same(job_outcome(job_options(source, std::nullopt)), wanted);
  check_same(job_outcome(job_options(source, kEmulated)), wanted);
}

TEST_CASE(
    "every frame of the sample video gives the same on host and emulated device as in the plain "
    "loop") {
  const char* video = std::getenv("WEFTLINE_SAMPLE_VIDEO");
  if (video == nullptr)
    SKIP("WEFTLINE_SAMPLE_VIDEO is not set: ci/fetch_sample prints where the video is");
  const SourceOptions source{.input = video, .frames = 0, .realtime = false};
  const JobOutcome wanted = plain_outcome(source);
  REQUIRE(wanted.events.size() == 795);
  check_same(job_outcome(job_options(source, std::nullopt)), wanted);
  check_same(job_outcome(job_options(source, kEmulated)), wanted);
}

TEST_CASE("in real time frames are not early, and those that are not dropped give the same") {
  const SourceOptions source{.input = {}, .frames = 50, .realtime = true};
  JobOptions options = job_options(source, kEmulated);
  options.rate = {100, 1};
  const auto start = std::chrono::steady_clock::now();
  const JobOutcome job = job_outcome(options);
  REQUIRE_FALSE(job.events.empty());
  CHECK(job.events.size() + job.dropped == 50);
  const auto& last = job.events.back();
  CHECK(std::chrono::steady_clock::now() - start >=
        std::chrono::nanoseconds(media_time_ns(last.frame_id, options.rate)));
  check_same(job, plain_outcome(source, [&](std::uint64_t id) {
               return std::ranges::any_of(
                   job.events, [&](const MotionEvent& event) { return event.frame_id == id; });
             }));
}

TEST_CASE(
    "one plan for one job: compiling twice gives the same bytes, another device another digest") {
  const SourceOptions source{.input = {}, .frames = 5, .realtime = false};
  const auto digest = [&](std::optional<weftline::DeviceId> device) {
    const JobOptions options = job_options(source, device);
    return compile_job(options, JobState(options.geometry), weftline::capture_device_catalog())
        .digest();
  };
  CHECK(digest(std::nullopt) == digest(std::nullopt));
  CHECK(digest(kEmulated) == digest(kEmulated));
  CHECK(digest(std::nullopt) != digest(kEmulated));
}
