// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/plan_dot.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sample_plan.hpp"

namespace weftline {
namespace {

/// What is left of the text outside quoted strings; fails when a string does not end.
std::string outside_strings(const std::string& dot) {
  std::string rest;
  bool inside = false;
  for (std::size_t at = 0; at < dot.size(); ++at) {
    if (inside && dot[at] == '\\') {
      ++at;
    } else if (dot[at] == '"') {
      inside = !inside;
    } else if (!inside) {
      rest.push_back(dot[at]);
    }
  }
  CHECK_FALSE(inside);
  return rest;
}

TEST_CASE("a plan is drawn with its lanes, edges, fences, pools and endpoints") {
  CHECK(plan_dot(sample_plan()) == R"(digraph "sample" {
  rankdir=LR;
  fontname="sans-serif";
  node [shape=box, style=filled, fontname="sans-serif", fontsize=10];
  edge [fontname="sans-serif", fontsize=9];
  subgraph cluster_0 {
    label="auto:camera";
    style=rounded;
    op0 [label="camera\nCamera\nevery 33.3 ms\nemulated:0, stream 0", fillcolor="#a6cee3"];
    op1 [label="gray\nGray\neach in\nemulated:0, stream 0", fillcolor="#a6cee3"];
  }
  op0 -> op1 [label="frames → in\ndepth 4, no fence", penwidth=2.5];
  pool0 [shape=cylinder, fillcolor="white", label="pool of camera.frames\n8 × 1 KiB\ncuda_device on emulated:0"];
  pool0 -> op0 [style=dotted, arrowhead=none];
  endpoint0 [shape=cds, fillcolor="white", label="mean\nweftline://mean"];
  op1 -> endpoint0;
}
)");
}

TEST_CASE("an edge that drops its oldest is dashed, one with fences is not bold") {
  PlanRecords plan = sample_plan();
  plan.payload_edges[0].queue_policy = QueuePolicy::kDropOldest;
  plan.fusion_decisions[0].fused = false;
  const std::string dot = plan_dot(plan);
  CHECK(dot.find(R"([label="frames → in\ndepth 4, drops oldest, fenced", style=dashed];)") !=
        std::string::npos);
}

TEST_CASE("names of any bytes leave the drawing whole") {
  PlanRecords plan = sample_plan();
  const std::string hostile = "a\"]; evil [x=\"\\ \\N \n\r\x01\xff </b> {";
  plan.graph_name = hostile;
  plan.operators[0].path = hostile;
  plan.operators[0].type_id = hostile + "\\";
  plan.operators[0].outputs[0].name = hostile;
  plan.execution_partitions[0].name = hostile;
  const std::string rest = outside_strings(plan_dot(plan));
  CHECK(rest.find("evil") == std::string::npos);
  CHECK(std::ranges::count(rest, '{') == 2);
  CHECK(std::ranges::count(rest, '\n') == std::ranges::count(plan_dot(sample_plan()), '\n'));
}

TEST_CASE("operators of a rejected plan without lanes are drawn, too") {
  PlanRecords plan = sample_plan();
  plan.execution_partitions.clear();
  const std::string dot = plan_dot(plan);
  CHECK(dot.find("cluster") == std::string::npos);
  CHECK(dot.find("\n  op0 [label=") != std::string::npos);
  CHECK(plan_dot(PlanRecords{}).find("digraph \"\" {") == 0);
}

}  // namespace
}  // namespace weftline
