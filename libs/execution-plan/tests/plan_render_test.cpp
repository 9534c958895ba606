// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sample_plan.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

TEST_CASE("a plan is rendered in sections of fixed columns") {
  const PlanRecords plan = sample_plan();
  CHECK(render_plan(plan) == "Plan of sample: accepted\n  " + plan_digest(plan) + R"(
  2 operators, 1 partition, 1 edge, 1 stream, 1 pool with 8 KiB, 1 endpoint

Partitions
  id  name         origin     operator  type       trigger        device      stream  placed by
   0  auto:camera  automatic  camera    Camera v2  every 33.3 ms  emulated:0       0  start: nothing leads here
                              gray      Gray v1    each in        emulated:0       0  join: continues the chain of camera

Parameters
  operator  parameter  type    value        may change
  camera    fps        uint32  30 Hz        lifecycle from arm
            key        string  (sensitive)  compile_time

Edges
  id  from           to       payload  queue     depth  chosen   lanes
   0  camera.frames  gray.in  tensor   blocking      4  default  same

Streams
  id  device      partition
   0  emulated:0  auto:camera

Fences
  edge  fences    because
     0  left out  one writer, one reader

Pools
  id  output         memory       device      slot bytes  slots  total  max rank  release streams
   0  camera.frames  cuda_device  emulated:0        1024      8  8 KiB         3                3
      6 at the rates of the start
      1 for producer (producer_loan)
      7 for gray.in (accepted_publication, consumer_cuda_release)

Endpoints
  id  name  uri              payload                   peer      depth  from
   0  mean  weftline://mean  scalar float32 (4 bytes)  required      8  gray.mean

Diagnostics
[0] warning PARTITION_EMPTY at partition x: it is empty. Fix: drop it
)");
}

TEST_CASE("an automatic depth is shown with its arithmetic") {
  PlanRecords plan = sample_plan();
  plan.payload_edges[0].depth_origin = QueueDepthOrigin::kAutomatic;
  plan.queue_sizing_recipes[0].horizon = Rational::make(1, 15).value();
  CHECK(render_plan(plan).find(
            "\n      30 samples/s over 1/15 s, times 3/2, at least 1; at most 4\n") !=
        std::string::npos);
}

TEST_CASE("an empty plan is its summary") {
  const std::string page = render_plan(PlanRecords{});
  CHECK(page.find("0 operators, 0 partitions, 0 edges, 0 streams, 0 pools, 0 endpoints\n") !=
        std::string::npos);
  CHECK(page.find("Partitions") == std::string::npos);
}

TEST_CASE("a size that is not known is called unknown") {
  PlanRecords plan = sample_plan();
  plan.tensor_allocations[0].slot_bytes = 0;
  CHECK(render_plan(plan).find("unknown") != std::string::npos);
}

TEST_CASE("long and hostile names keep the columns") {
  PlanRecords plan = sample_plan();
  plan.operators[0].path = std::string(65'536, 'x');
  plan.operators[0].type_id = "\x1b[31m\nred";
  const std::string page = render_plan(plan);
  CHECK(page.find(std::string(24, 'x') + "…" + std::string(23, 'x')) != std::string::npos);
  CHECK(page.find(std::string(49, 'x')) == std::string::npos);
  CHECK(page.find('\x1b') == std::string::npos);
  CHECK(page.find("\\x1b[31m\\x0ared v2") != std::string::npos);
}

}  // namespace
}  // namespace weftline
