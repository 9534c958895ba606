// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

#include "job_harness.hpp"

using namespace motion_watch;

TEST_CASE("the graph sends the same events from cuda:0 as a plain loop on the host") {
  const weftline::DeviceId cuda{weftline::DeviceKind::kCuda, 0};
  if (weftline::capture_device_catalog().find(cuda) == nullptr)
    SKIP("there is no cuda:0 on this machine");
  SourceOptions source{.input = {}, .frames = 200, .realtime = false};
  CHECK(job_events(job_options(source, cuda)) == plain_events(source));
  if (const char* video = std::getenv("WEFTLINE_SAMPLE_VIDEO")) {
    source = {.input = video, .frames = 0, .realtime = false};
    const auto wanted = plain_events(source);
    CHECK(wanted.size() == 795);
    CHECK(job_events(job_options(source, cuda)) == wanted);
  }
}
