// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdlib>

#include "job_harness.hpp"

using namespace motion_watch;

namespace {

const weftline::DeviceId kEmulated{weftline::DeviceKind::kEmulated, 0};

}  // namespace

TEST_CASE(
    "the graph sends the same events as a plain loop, on the host and on an emulated device") {
  const SourceOptions source{.input = {}, .frames = 120, .realtime = false};
  const auto wanted = plain_events(source);
  REQUIRE(wanted.size() == 120);
  CHECK(job_events(job_options(source, std::nullopt)) == wanted);
  CHECK(job_events(job_options(source, kEmulated)) == wanted);
}

TEST_CASE(
    "every frame of the sample video gives the same events on host and emulated device as the "
    "plain loop") {
  const char* video = std::getenv("WEFTLINE_SAMPLE_VIDEO");
  if (video == nullptr)
    SKIP("WEFTLINE_SAMPLE_VIDEO is not set: ci/fetch_sample prints where the video is");
  const SourceOptions source{.input = video, .frames = 0, .realtime = false};
  const auto wanted = plain_events(source);
  REQUIRE(wanted.size() == 795);
  CHECK(job_events(job_options(source, std::nullopt)) == wanted);
  CHECK(job_events(job_options(source, kEmulated)) == wanted);
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
