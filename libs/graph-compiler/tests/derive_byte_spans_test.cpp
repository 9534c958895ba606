// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <set>
#include <string>

#include "test_derivations.hpp"
#include "test_graph.hpp"

namespace weftline {
namespace {

using Update = TensorByteSpanDerivationUpdateDisposition;

std::string tokens(const TestGraph& graph) {
  std::string all;
  const ExecutionPlan plan = graph.compile();
  for (const Diagnostic& diagnostic : plan.diagnostics()) all.append(diagnostic.token).append(" ");
  return all;
}

std::uint64_t bytes_of(const TestGraph& graph) {
  const ExecutionPlan plan = graph.compile();
  INFO(format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  REQUIRE(plan.tensor_byte_span_derivations().size() == 1);
  const auto& record = plan.tensor_byte_span_derivations()[0];
  CHECK(find_op(plan, "op").outputs[0].tensor->bounds.max_byte_span == record.resolved_bytes);
  CHECK(plan.provider_allocation_plans()[0].entry_bytes == record.resolved_bytes);
  CHECK(plan.tensor_allocations()[0].slot_bytes == (record.resolved_bytes + 255) / 256 * 256);
  return record.resolved_bytes;
}

TEST_CASE("a formula is evaluated once, with the values that the plan is compiled with") {
  CHECK(bytes_of(resizing(tensor_byte_span(7))) == 7);
  CHECK(bytes_of(resizing(shape_bytes())) == 4 * 5 * 3);
  CHECK(bytes_of(resizing(shape_bytes(), {.shape = {640, 480, 4}})) == 640 * 480 * 4);
  CHECK(bytes_of(resizing(largest_at(0))) == 1'000);
  CHECK(bytes_of(resizing(largest_at(0).ceiling_divided_by(tensor_byte_span(3)))) == 334);
  CHECK(bytes_of(resizing(largest_at(0).ceiling_divided_by(tensor_byte_span(2'000)))) == 1);
  CHECK(bytes_of(resizing(largest_at(0).multiplied_by(tensor_byte_span(3)))) == 3'000);
  CHECK(bytes_of(resizing(largest_at(0).maximum_with(tensor_byte_span(1'001)))) == 1'001);
  CHECK(bytes_of(resizing(largest_at(0).maximum_with(tensor_byte_span(999)))) == 1'000);
  CHECK(bytes_of(resizing(largest_at(0).aligned_to(512))) == 1'024);
  CHECK(bytes_of(resizing(tensor_byte_span(512).aligned_to(512))) == 512);
  CHECK(bytes_of(resizing(projected<&fixed_bytes>("p"), {.fixed = 77})) == 77);
}

TEST_CASE("the largest formula, and one step beyond it") {
  const auto most = tensor_byte_span(std::uint64_t{1} << 53);
  CHECK(tokens(resizing(most.multiplied_by(tensor_byte_span(512))))
            .find("PHYSICAL_TENSOR_BYTE_SPAN") == std::string::npos);
  CHECK(tokens(resizing(most.multiplied_by(tensor_byte_span(1'024)))) ==
        "PHYSICAL_TENSOR_BYTE_SPAN_OVERFLOW ");
}

TEST_CASE("a shape counts elements of the output's dtype") {
  TestGraph graph = resizing(shape_bytes());
  graph.output("op.out").tensor->representation.dtype = kFloat32;
  CHECK(bytes_of(graph) == 4 * 5 * 3 * 4);
}

TEST_CASE("a record shows each step with its value") {
  const auto formula = shape_bytes()
                           .maximum_with(projected<&fixed_bytes>("test.fixed"))
                           .multiplied_by(tensor_byte_span(2));
  const ExecutionPlan plan = resizing(formula).compile();
  const auto& record = plan.tensor_byte_span_derivations()[0];
  CHECK(plan.records().output_name(record.output) == "op.out");
  CHECK(record.update == Update::kRecompileRequired);
  REQUIRE(record.nodes.size() == 5);
  CHECK(record.nodes[0].operation == TensorByteSpanOperation::kParameterContiguous);
  CHECK(record.nodes[0].parameters == std::vector<std::string>{"shape"});
  CHECK(record.nodes[0].schema_id == "com.example.Resize");
  CHECK(record.nodes[0].schema_version == 3);
  CHECK(record.nodes[0].resolved_value == 60);
  CHECK(record.nodes[1].projection_id == "test.fixed");
  CHECK(record.nodes[1].resolved_value == 100);
  CHECK(record.nodes[2].left == 0U);
  CHECK(record.nodes[2].right == 1U);
  CHECK(record.nodes[2].resolved_value == 100);
  CHECK(record.nodes[3].operand == 2U);
  CHECK(record.nodes[4].resolved_value == 200);
}

TEST_CASE("what it takes to change slot bytes, here or upstream") {
  const auto update_of = [](const TestGraph& graph) {
    const ExecutionPlan plan = graph.compile();
    REQUIRE(plan.ok());
    return plan.tensor_byte_span_derivations()[0].update;
  };
  CHECK(update_of(resizing(tensor_byte_span(7))) == Update::kFrozenCompileTime);
  CHECK(update_of(resizing(largest_at(0))) == Update::kFrozenCompileTime);
  CHECK(update_of(resizing(projected<&fixed_bytes>("p"))) == Update::kFrozenCompileTime);
  CHECK(update_of(resizing(shape_bytes())) == Update::kRecompileRequired);
  TestGraph upstream = resizing(largest_at(0));
  upstream.params("source", ResizeParams{});
  upstream.output("source.out").tensor->representation.rank = 3;
  upstream.derive("source.out", {.byte_span = shape_bytes()});
  CHECK(update_of(upstream) == Update::kRecompileRequired);
}

TEST_CASE("bounds travel along the flow, whatever the names are") {
  // "z" feeds "y" feeds "x": against the order of the records.
  TestGraph graph;
  graph.source("z").tensor_output("z.out", pool_in(MemoryKind::kHost));
  for (const auto& [name, from] : {std::pair("y", "z.out"), std::pair("x", "y.out")}) {
    const std::string path = name;
    graph.relay(path).tensor_input(path + ".in").flow(from, path + ".in");
    graph.tensor_output(path + ".out", pool_in(MemoryKind::kHost));
    graph.derive(path + ".out", {.byte_span = largest_at(0).multiplied_by(tensor_byte_span(2))});
  }
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.tensor_byte_span_derivations().size() == 2);
  CHECK(plan.ok());
  CHECK(plan.tensor_byte_span_derivations()[0].resolved_bytes == 4'000);
  CHECK(plan.tensor_byte_span_derivations()[1].resolved_bytes == 2'000);
}

TEST_CASE("a pass-through output with a bound bounds what follows") {
  TestGraph graph = resizing(largest_at(0));
  graph.tensor_output("source.out", {.bounds = tensor_bounds(123)});
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.tensor_byte_span_derivations()[0].resolved_bytes == 123);
}

TEST_CASE("an input of nobody, of several and of itself has no bound, and is reported once") {
  TestGraph disconnected = resizing(largest_at(0));
  disconnected.snapshot().flows.erase(disconnected.snapshot().flows.begin());
  CHECK(tokens(disconnected) == "GRAPH_INPUT_UNCONNECTED GRAPH_OUTPUT_UNCONNECTED ");
  TestGraph several = resizing(largest_at(0));
  several.source("more").tensor_output("more.out", pool_in(MemoryKind::kHost));
  several.flow("more.out", "op.in");
  CHECK(tokens(several) == "GRAPH_INPUT_FAN_IN ");
  TestGraph loop = resizing(largest_at(0));
  loop.snapshot().flows.clear();
  loop.flow("op.out", "op.in").flow("source.out", "sink.in");
  CHECK(tokens(loop) == "GRAPH_CYCLE ");
  TestGraph behind = resizing(largest_at(0));
  behind.relay("zz").tensor_input("zz.in").tensor_output("zz.out", pool_in(MemoryKind::kHost));
  behind.derive("zz.out", {.byte_span = largest_at(0)});
  behind.snapshot().flows.clear();
  behind.flow("zz.out", "zz.in").flow("zz.out", "op.in").flow("source.out", "sink.in");
  CHECK(tokens(behind) == "GRAPH_CYCLE GRAPH_OUTPUT_UNCONNECTED ");
}

TEST_CASE("what a producer fails to say is reported at the producer alone") {
  TestGraph graph = resizing(largest_at(0));
  graph.output("source.out").tensor->bounds = {};
  CHECK(tokens(graph) == "TENSOR_POOL_SPAN_MISSING ");
  TestGraph derived = resizing(largest_at(0));
  derived.params("source", ResizeParams{.shape = {0, 1}});
  derived.derive("source.out", {.byte_span = shape_bytes()});
  CHECK(tokens(derived) == "PHYSICAL_TENSOR_BYTE_SPAN_INVALID ");
}

expected<std::uint64_t, Error> must_not_be_called(const ResizeParams&) noexcept { std::abort(); }

TEST_CASE("values that their schema refuses are never evaluated") {
  TestGraph graph = resizing(projected<&must_not_be_called>("p").maximum_with(shape_bytes()),
                             {.shape = {1, 2, 3, 4, 5}});
  graph.vertex("op").derivations.front().derivations.memory_kind =
      parameter_memory_kind(param_ref<&ResizeParams::kind>());
  CHECK(tokens(graph) == "PARAM_VALIDATION_FAILED ");
  TestGraph plain = resizing(tensor_byte_span(8), {.shape = {1, 2, 3, 4, 5}});
  CHECK(plain.compile().tensor_byte_span_derivations()[0].resolved_bytes == 8);
}

TEST_CASE("nested parameters of one struct keep apart") {
  const ResizeParams values{.left = {.width = 5}, .right = {.width = 7}};
  const auto left = parameter_projected_byte_span<&left_bytes>(
      "test.left", param_ref<&ResizeParams::left, &Tile::width>());
  const auto right = parameter_projected_byte_span<&right_bytes>(
      "test.right", param_ref<&ResizeParams::right, &Tile::width>());
  const ExecutionPlan plan = resizing(left.multiplied_by(right), values).compile();
  const auto& record = plan.tensor_byte_span_derivations()[0];
  CHECK(record.resolved_bytes == 35);
  CHECK(record.nodes[0].parameters == std::vector<std::string>{"left.width"});
  CHECK(record.nodes[1].parameters == std::vector<std::string>{"right.width"});
  CHECK(record.nodes[0].schema_id == "com.example.Resize");
}

TEST_CASE("an id may stand for one function at many outputs") {
  TestGraph graph =
      resizing(projected<&fixed_bytes>("same").multiplied_by(projected<&fixed_bytes>("same")));
  CHECK(bytes_of(graph) == 10'000);
}

TEST_CASE("a projector's own words get nowhere") {
  for (const auto& bytes : {projected<&too_large>("p"), projected<&no_answer>("p")}) {
    const ExecutionPlan plan = resizing(bytes).compile();
    CHECK_FALSE(plan.ok());
    CHECK(plan.json().find("private") == std::string::npos);
    CHECK(plan.json().find("PRIVATE") == std::string::npos);
  }
}

TEST_CASE("a plan depends on what its sizes are derived from, and on nothing else") {
  const auto digest = [](const TensorByteSpanExpression& bytes) {
    return resizing(bytes).compile().digest();
  };
  CHECK(digest(tensor_byte_span(60)) == digest(tensor_byte_span(60)));
  CHECK(digest(shape_bytes()) != digest(tensor_byte_span(60)));
  CHECK(digest(projected<&fixed_bytes>("a")) != digest(projected<&fixed_bytes>("b")));
}

TEST_CASE("each operator of a long chain derives from the one before") {
  TestGraph graph;
  graph.source("op000000").tensor_output("op000000.out", pool_in(MemoryKind::kHost));
  GraphSnapshot& snapshot = graph.snapshot();
  VertexSnapshot relay = snapshot.vertices.front();
  relay.trigger.reset();
  relay.inputs = {{.name = "in", .payload = payload_identity<Tensor>()}};
  relay.outputs[0].tensor->bounds = {};
  relay.derivations = {
      {0, {.byte_span = largest_at(0).maximum_with(tensor_byte_span(1)).aligned_to(2)}}};
  constexpr std::uint32_t kCount = 10'000;
  for (std::uint32_t index = 1; index < kCount; ++index) {
    std::string number = std::to_string(kCount - index);
    relay.path = "op" + std::string(6 - number.size(), '0') + number;
    snapshot.vertices.push_back(relay);
    snapshot.flows.push_back({{VertexId{index - 1}, 0}, {VertexId{index}, 0}, {}});
  }
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  REQUIRE(plan.tensor_byte_span_derivations().size() == kCount - 1);
  for (const auto& record : plan.tensor_byte_span_derivations()) {
    REQUIRE(record.resolved_bytes == 1'000);
  }
}

}  // namespace
}  // namespace weftline
