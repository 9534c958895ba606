// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/authoring_records.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sample_plan.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

PlanRecords authored_plan() {
  PlanRecords plan = sample_plan();
  plan.operators[1].path = "part/gray";
  plan.operators[1].inputs[0].diagnostic_alias = "picture";
  plan.payload_edges[0].topic_name = "frames";
  plan.graph_instances = {{.id = GraphInstanceId{0},
                           .path = "part",
                           .type_id = "Part",
                           .type_version = 2,
                           .members = {VertexId{1}},
                           .inputs = {{"in", {{VertexId{1}, 0}}}},
                           .outputs = {{"mean", {{VertexId{1}, 0}}}}}};
  plan.regions = {{.id = RegionId{0},
                   .name = "rt",
                   .members = {VertexId{0}, VertexId{1}},
                   .graphs = {GraphInstanceId{0}},
                   .constraints = {RegionConstraint::kSingleDevice, RegionConstraint::kLossless},
                   .profile = Profile::kStrict}};
  plan.port_configurations = {
      {.port = {VertexId{0}, 0},
       .is_output = true,
       .fact = PortFact::kMaxEmitsPerCompute,
       .layer = PortConfigurationLayer::kGraph,
       .value = "2",
       .replaced = "1"},
      {.port = {VertexId{0}, 0}, .is_output = true, .fact = PortFact::kTensorRank, .value = "3"}};
  plan.partitioning = {PartitioningMode::kHybrid, "source_chain", 1, 4};
  plan.schedule_edges = {{EdgeId{0}, PartitionId{0}, PartitionId{1}}};
  plan.lifecycle.order = {{VertexId{1}, VertexId{0}}};
  plan.lifecycle.start_order = {VertexId{1}, VertexId{0}};
  plan.lifecycle.transactions = {8, 90, 2};
  plan.lifecycle.restart_closures = {{VertexId{1}, {VertexId{1}, VertexId{0}}, 14}};
  plan.lifecycle.restart_grants = {{.requester = VertexId{0},
                                    .target = VertexId{1},
                                    .requested_stage = LifecycleStage::kStart,
                                    .effective_stage = LifecycleStage::kArm,
                                    .widening = LifecycleStageWidening::kReadinessSource,
                                    .disposition = LifecycleRestartDisposition::kAdmitted,
                                    .journal_entries = 8}};
  return plan;
}

std::string dump(const PlanRecords& plan, std::string_view key) {
  return plan_to_json(plan).find(key)->dump();
}

TEST_CASE("what the author's structure leaves in a plan is written with all its fields") {
  const PlanRecords plan = authored_plan();
  CHECK(dump(plan, "graph_instances") ==
        R"([{"id":0,"inputs":[{"name":"in","ports":[{"port":0,"vertex":1}]}],"members":[1],)"
        R"("outputs":[{"name":"mean","ports":[{"port":0,"vertex":1}]}],"parent":null,)"
        R"("path":"part","type_id":"Part","type_version":2}])");
  CHECK(dump(plan, "regions") ==
        R"([{"constraints":["single_device","lossless"],"graphs":[0],"id":0,"members":[0,1],)"
        R"("name":"rt","profile":"strict"}])");
  CHECK(dump(plan, "port_configurations") ==
        R"([{"fact":"max_emits_per_compute","is_output":true,"layer":"graph",)"
        R"("port":{"port":0,"vertex":0},"replaced":"1","value":"2"},)"
        R"({"fact":"tensor_rank","is_output":true,"layer":"setup",)"
        R"("port":{"port":0,"vertex":0},"replaced":null,"value":"3"}])");
  CHECK(dump(plan, "partitioning") ==
        R"({"algorithm":"source_chain","algorithm_version":1,"authored_partition_count":4,)"
        R"("mode":"hybrid"})");
  CHECK(dump(plan, "schedule_edges") == R"([{"destination":1,"edge":0,"source":0}])");
  CHECK(dump(plan, "lifecycle") ==
        R"({"order":[{"after":0,"before":1}],"restart_closures":[{"max_journal_entries":14,)"
        R"("members":[1,0],"target":1}],"restart_grants":[{"disposition":"admitted",)"
        R"("effective_stage":"arm","journal_entries":8,"requested_stage":"start","requester":0,)"
        R"("target":1,"widening":"readiness_source"}],"start_order":[1,0],)"
        R"("transactions":{"max_closure_operators":8,"max_journal_entries":90,)"
        R"("max_pending_requests":2}})");
  CHECK(dump(sample_plan(), "lifecycle") ==
        R"({"order":[],"restart_closures":[],"restart_grants":[],"start_order":[],)"
        R"("transactions":null})");
}

TEST_CASE("a change in any of these records changes the digest") {
  const std::string digest = plan_digest(authored_plan());
  std::vector<PlanRecords> changed(14, authored_plan());
  changed[0].graph_instances[0].inputs[0].name = "out";
  changed[1].graph_instances[0].outputs.clear();
  changed[2].regions[0].constraints.pop_back();
  changed[3].regions[0].graphs.clear();
  changed[4].port_configurations[1].replaced = "";
  changed[5].partitioning.mode = PartitioningMode::kExact;
  changed[6].schedule_edges.clear();
  changed[7].lifecycle.order.clear();
  changed[8].lifecycle.transactions->max_pending_requests = 3;
  changed[9].lifecycle.restart_closures[0].members.pop_back();
  changed[10].lifecycle.restart_grants[0].requester = {};
  changed[11].operators[0].outputs[0].late_joiner_history_depth = 1;
  changed[12].operators[1].inputs[0].diagnostic_alias = "";
  changed[13].partition_decisions[0].reason_code = PartitionDecisionReason::kFanIn;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    INFO("change " << i);
    CHECK(plan_digest(changed[i]) != digest);
  }
}

TEST_CASE("a page has sections for what the author said, and none where nothing was said") {
  const std::string page = render_plan(authored_plan());
  const auto has = [&](std::string_view text) { return page.find(text) != std::string::npos; };
  CHECK(has(R"(
Embedded graphs
  id  path  type     operators
   0  part  Part v2          1
      input in is part/gray.in (picture)
      output mean is part/gray.mean
)"));
  CHECK(has(R"(
Regions
  id  name  operators  constraints              profile
   0  rt            2  single_device, lossless  strict
)"));
  CHECK(has(R"(
Configured ports
  port           fact                   value  instead of
  camera.frames  max_emits_per_compute  2      1
)"));
  CHECK(has("\n      named frames\n"));
  CHECK(has(R"(
Start order
  operator  starts after
  camera    part/gray
)"));
  CHECK(has(R"(
Restart grants
  operator   restarted by  is        from stage                        restarts  journal entries
  part/gray  camera        admitted  arm, not start: readiness_source         2                8
)"));
  const std::string plain = render_plan(sample_plan());
  for (const char* title : {"Embedded", "Regions", "Configured", "Start order", "Restart"}) {
    CHECK(plain.find(title) == std::string::npos);
  }
}

TEST_CASE("names of any bytes give valid JSON and one line each") {
  PlanRecords plan = authored_plan();
  const std::string hostile = "\"\\\n\x01\xff";
  plan.graph_instances[0].path = hostile;
  plan.graph_instances[0].inputs[0].name = hostile;
  plan.regions[0].name = hostile;
  plan.port_configurations[0].value = hostile;
  plan.payload_edges[0].topic_name = hostile;
  plan.operators[1].inputs[0].diagnostic_alias = hostile;
  CHECK(parse_json(plan_json(plan)));
  const std::string page = render_plan(plan);
  CHECK(page.find('\x01') == std::string::npos);
  CHECK(page.find('\xff') == std::string::npos);
}

TEST_CASE("values outside an enum are called unknown, and ids outside a plan do no harm") {
  CHECK(region_constraint_name(static_cast<RegionConstraint>(200)) == "unknown");
  PlanRecords plan = authored_plan();
  plan.lifecycle.order = {{VertexId{77}, VertexId{}}};
  plan.lifecycle.restart_grants[0].target = VertexId{99};
  plan.graph_instances[0].inputs[0].ports = {{VertexId{50}, 0}};
  CHECK(render_plan(plan).find("input in is ?") != std::string::npos);
}

}  // namespace
}  // namespace weftline
