// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "job_harness.hpp"

using namespace motion_watch;

TEST_CASE("the graph gives the same events and pictures on cuda:0 as a plain loop on the host") {
  const weftline::DeviceId cuda{weftline::DeviceKind::kCuda, 0};
  if (weftline::capture_device_catalog().find(cuda) == nullptr)
    SKIP("there is no cuda:0 on this machine");
  for (const std::uint64_t frames : {12U, 200U}) {
    const SourceOptions source{.input = {}, .frames = frames, .realtime = false};
    check_same(job_outcome(job_options(source, cuda)), plain_outcome(source));
  }
  if (const char* video = std::getenv("WEFTLINE_SAMPLE_VIDEO")) {
    const SourceOptions source{.input = video, .frames = 0, .realtime = false};
    const JobOutcome wanted = plain_outcome(source);
    CHECK(wanted.events.size() == 795);
    check_same(job_outcome(job_options(source, cuda)), wanted);
  }
}
