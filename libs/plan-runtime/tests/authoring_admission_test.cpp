// SPDX-License-Identifier: Apache-2.0
#include "authoring_admission.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

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

}  // namespace
}  // namespace weftline::runtime
