// SPDX-License-Identifier: Apache-2.0
#include "authoring_admission.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "weftline/catalog/endpoint_catalog_builder.hpp"

namespace weftline::runtime {
namespace {

PlanRecords two_operators() {
  PlanRecords plan;
  plan.operators = {{.id = VertexId{0}, .path = "a", .outputs = {{.name = "out"}}},
                    {.id = VertexId{1}, .path = "b"}};
  plan.lifecycle.start_order = {VertexId{1}, VertexId{0}};
  return plan;
}

TEST_CASE("a start order that is none of the operators once each is refused") {
  CHECK(check_authoring_records(two_operators()));
  CHECK(check_authoring_records(PlanRecords{}));
  using Order = std::vector<VertexId>;
  const VertexId a{0};
  const VertexId b{1};
  for (const Order& order : {Order{}, Order{a}, Order{a, a}, Order{a, b, a}, Order{a, VertexId{2}},
                             Order{a, VertexId{}}}) {
    PlanRecords plan = two_operators();
    plan.lifecycle.start_order = order;
    const auto checked = check_authoring_records(plan);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().token == "RUN_START_ORDER_INVALID");
  }
}

TEST_CASE("an output that keeps history is refused by name") {
  PlanRecords plan = two_operators();
  plan.operators[0].outputs[0].late_joiner_history_depth = 1;
  const auto checked = check_authoring_records(plan);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == ErrorCode::kNotSupported);
  CHECK(checked.error().token == "RUN_HISTORY_UNSUPPORTED");
  CHECK(checked.error().message.find("a.out") != std::string::npos);
}

TEST_CASE("a plan whose endpoints belong to several process groups is refused, with both") {
  ChannelEndpointCatalogBuilder builder("deployment");
  REQUIRE(builder.export_topic<std::uint32_t>("one", "weftline://one", {.process_group = "left"}));
  REQUIRE(builder.export_topic<std::uint32_t>("two", "weftline://two", {.process_group = "right"}));
  REQUIRE(builder.import_topic<std::uint32_t>("in", "weftline://in", {.process_group = "left"}));
  PlanRecords plan = two_operators();
  auto catalog = std::move(builder).build();
  REQUIRE(catalog);
  plan.endpoint_catalog = *catalog;
  plan.export_edges = {{.endpoint_name = "one", .source = {VertexId{0}, 0}}};
  plan.import_edges = {{.endpoint_name = "in"}};
  // What the catalog has beyond the plan's own endpoints is other people's.
  CHECK(check_authoring_records(plan));
  plan.export_edges.push_back({.endpoint_name = "two", .source = {VertexId{0}, 0}});
  const auto checked = check_authoring_records(plan);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().token == "RUN_PROCESS_GROUPS_UNSUPPORTED");
  CHECK(checked.error().message.find("left") != std::string::npos);
  CHECK(checked.error().message.find("right") != std::string::npos);
}

}  // namespace
}  // namespace weftline::runtime
