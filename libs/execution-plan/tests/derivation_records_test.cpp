// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sample_plan.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

using Operation = TensorByteSpanOperation;
using Update = TensorByteSpanDerivationUpdateDisposition;

/// Every operation, in a formula of "gray", which has an input.
PlanRecords derived_plan() {
  PlanRecords plan = sample_plan();
  plan.tensor_byte_span_derivations = {
      {.output = {VertexId{1}, 0},
       .resolved_bytes = 256,
       .update = Update::kRecompileRequired,
       .nodes = {
           {.operation = Operation::kInputMaximum, .input = 0, .resolved_value = 1'000},
           {.operation = Operation::kLiteral, .operand = 4, .resolved_value = 4},
           {.operation = Operation::kCeilingDivide, .left = 0, .right = 1, .resolved_value = 250},
           {.operation = Operation::kParameterContiguous,
            .parameters = {"shape"},
            .schema_id = "com.example.Gray",
            .schema_version = 2,
            .resolved_value = 60},
           {.operation = Operation::kParameterProjected,
            .parameters = {"a", "b.c"},
            .schema_id = "com.example.Gray",
            .schema_version = 2,
            .projection_id = "com.example.bytes.v1",
            .resolved_value = 2},
           {.operation = Operation::kMultiply, .left = 3, .right = 4, .resolved_value = 120},
           {.operation = Operation::kMaximum, .left = 2, .right = 5, .resolved_value = 250},
           {.operation = Operation::kAlign, .left = 6, .operand = 256, .resolved_value = 256}}}};
  plan.tensor_memory_kind_derivations = {{.output = {VertexId{0}, 0},
                                          .form = TensorMemoryKindExpressionForm::kMapped,
                                          .parameter = "storage",
                                          .schema_id = "com.example.Camera",
                                          .schema_version = 3,
                                          .value = "device",
                                          .kind = MemoryKind::kCudaDevice}};
  return plan;
}

TEST_CASE("a formula is written step by step, and what belongs to another step is null") {
  const JsonValue json = plan_to_json(derived_plan());
  const JsonValue& record = json.find("tensor_byte_span_derivations")->as_array()->front();
  CHECK(record.find("output")->dump() == R"({"port":0,"vertex":1})");
  CHECK(record.find("resolved_bytes")->dump() == "256");
  CHECK(record.find("update")->dump() == R"("recompile_required")");
  const auto& nodes = *record.find("nodes")->as_array();
  REQUIRE(nodes.size() == 8);
  CHECK(nodes[0].dump() ==
        R"({"input":0,"left":null,"operand":null,"operation":"input_maximum","parameters":[],)"
        R"("projection_id":null,"resolved_value":1000,"right":null,"schema_id":null,)"
        R"("schema_version":null})");
  CHECK(nodes[4].dump() ==
        R"({"input":null,"left":null,"operand":null,"operation":"parameter_projected",)"
        R"("parameters":["a","b.c"],"projection_id":"com.example.bytes.v1","resolved_value":2,)"
        R"("right":null,"schema_id":"com.example.Gray","schema_version":2})");
  CHECK(nodes[7].dump() ==
        R"({"input":null,"left":6,"operand":256,"operation":"align","parameters":[],)"
        R"("projection_id":null,"resolved_value":256,"right":null,"schema_id":null,)"
        R"("schema_version":null})");
  CHECK(json.find("tensor_memory_kind_derivations")->dump() ==
        R"([{"form":"mapped","memory_kind":"cuda_device","output":{"port":0,"vertex":0},)"
        R"("parameter":"storage","schema_id":"com.example.Camera","schema_version":3,)"
        R"("update":"frozen_compile_time","value":"device"}])");
}

TEST_CASE("a value that is not known is null") {
  PlanRecords plan = derived_plan();
  plan.tensor_byte_span_derivations[0].resolved_bytes = 0;
  plan.tensor_byte_span_derivations[0].nodes[0].resolved_value = 0;
  plan.tensor_memory_kind_derivations[0].kind.reset();
  plan.tensor_memory_kind_derivations[0].value.clear();
  const JsonValue json = plan_to_json(plan);
  const JsonValue& span = json.find("tensor_byte_span_derivations")->as_array()->front();
  CHECK(span.find("resolved_bytes")->is_null());
  CHECK(span.find("nodes")->as_array()->front().find("resolved_value")->is_null());
  const JsonValue& kind = json.find("tensor_memory_kind_derivations")->as_array()->front();
  CHECK(kind.find("memory_kind")->is_null());
  CHECK(kind.find("value")->is_null());
}

TEST_CASE("a formula is rendered with all its values") {
  const std::string page = render_plan(derived_plan());
  CHECK(page.find(R"(
Derived slot bytes
  output     slot bytes  may change
  gray.mean         256  recompile_required
      slot bytes of gray.mean = align(max(ceil(largest(gray.in: 1000) / 4), (packed(shape: 60) * com.example.bytes.v1(a, b.c: 2))), 256) = 256

Derived memory kinds
  output         memory       parameter  value   may change
  camera.frames  cuda_device  storage    device  frozen_compile_time
)") != std::string::npos);
  CHECK(render_plan(sample_plan()).find("Derived") == std::string::npos);
}

TEST_CASE("what is not known is rendered as unknown") {
  PlanRecords plan = derived_plan();
  plan.tensor_byte_span_derivations[0].resolved_bytes = 0;
  plan.tensor_byte_span_derivations[0].nodes[0].resolved_value = 0;
  plan.tensor_memory_kind_derivations[0].kind.reset();
  const std::string page = render_plan(plan);
  CHECK(page.find("largest(gray.in: unknown)") != std::string::npos);
  CHECK(page.find("256) = unknown\n") != std::string::npos);
  CHECK(page.find("camera.frames  unknown  storage") != std::string::npos);
}

TEST_CASE("records that are no formula at all are rendered too") {
  PlanRecords plan = derived_plan();
  auto& record = plan.tensor_byte_span_derivations[0];
  record.output = {VertexId{9}, 9};
  record.nodes = {{.operation = Operation::kMultiply, .left = 0, .right = 77},
                  {.operation = Operation::kInputMaximum, .input = 5},
                  {.operation = static_cast<Operation>(99)},
                  {.operation = Operation::kParameterProjected, .projection_id = "\x1b[31m\nred"}};
  CHECK(render_plan(plan).find("slot bytes of ? = \\x1b[31m\\x0ared(: unknown)") !=
        std::string::npos);
  record.nodes = {};
  CHECK(render_plan(plan).find("slot bytes of ? = ? = 256") != std::string::npos);
  // Each node names the one before it twice.
  record.nodes = {{.operation = Operation::kLiteral, .resolved_value = 1}};
  for (std::uint32_t index = 0; index < 10'000; ++index) {
    record.nodes.push_back({.operation = Operation::kMultiply, .left = index, .right = index});
  }
  CHECK(render_plan(plan).size() < 100'000);
}

TEST_CASE("a change in any derivation changes the digest") {
  const std::string digest = plan_digest(derived_plan());
  std::vector<PlanRecords> changed(12, derived_plan());
  auto& nodes = changed[0].tensor_byte_span_derivations[0].nodes;
  nodes[0].input = 1;
  changed[1].tensor_byte_span_derivations[0].nodes[1].operand = 5;
  changed[2].tensor_byte_span_derivations[0].nodes[2].right = 0;
  changed[3].tensor_byte_span_derivations[0].nodes[4].parameters.pop_back();
  changed[4].tensor_byte_span_derivations[0].nodes[4].projection_id = "com.example.bytes.v2";
  changed[5].tensor_byte_span_derivations[0].nodes[5].operation = Operation::kMaximum;
  changed[6].tensor_byte_span_derivations[0].update = Update::kFrozenCompileTime;
  changed[7].tensor_byte_span_derivations.clear();
  changed[8].tensor_memory_kind_derivations[0].form = TensorMemoryKindExpressionForm::kDirect;
  changed[9].tensor_memory_kind_derivations[0].kind = MemoryKind::kHost;
  changed[10].tensor_memory_kind_derivations[0].parameter = "other";
  changed[11].tensor_byte_span_derivations[0].nodes[3].schema_version = 3;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    INFO("change " << i);
    CHECK(plan_digest(changed[i]) != digest);
  }
}

}  // namespace
}  // namespace weftline
