// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <string>

#include "tensor_narrowing.hpp"
#include "test_derivations.hpp"
#include "test_graph.hpp"

namespace weftline {
namespace {

TestGraph pooled_export() {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in").topic("weftline://t", {"a.out"});
  return graph;
}

/// "fact layer value (replaced)", a line each.
std::string configurations(const ExecutionPlan& plan) {
  std::string lines;
  for (const PortConfigurationRecord& each : plan.records().port_configurations) {
    const bool graph = each.layer == PortConfigurationLayer::kGraph;
    lines.append(std::to_string(static_cast<int>(each.fact))).append(graph ? " graph " : " setup ");
    lines.append(each.value).append(each.replaced ? " (" + *each.replaced + ")" : "").append("\n");
  }
  return lines;
}

TEST_CASE("the graph's depth of an input counts as given, and its record says so") {
  TestGraph graph = pooled_export();
  graph.snapshot().port_overrides.push_back({.port = {VertexId{1}, 0}, .queue_depth = 9});
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.payload_edges()[0].queue_depth == 9);
  CHECK(plan.payload_edges()[0].depth_origin == QueueDepthOrigin::kExplicit);
  CHECK(configurations(plan) == "0 graph 9\n");
}

TEST_CASE("a flow and its input may give the same depth") {
  TestGraph graph = pooled_export();
  graph.snapshot().flows.front().options.queue_depth = 9;
  graph.snapshot().port_overrides.push_back({.port = {VertexId{1}, 0}, .queue_depth = 9});
  CHECK(graph.diagnostics().empty());
}

TEST_CASE("numbers of the graph replace those of setup()") {
  TestGraph graph = pooled_export();
  graph.output("a.out").max_emits_per_compute = 3;
  graph.snapshot().port_overrides.push_back(
      {.port = {VertexId{0}, 0}, .is_output = true, .max_emits_per_compute = 7});
  const ExecutionPlan plan = graph.compile();
  CHECK(find_op(plan, "a").outputs[0].max_emits_per_compute == 7);
  CHECK(plan.payload_edges()[0].queue_depth == 14);
  CHECK(configurations(plan) == "1 graph 7 (3)\n");
}

TEST_CASE("history is kept where the output is exported") {
  TestGraph graph = pooled_export();
  graph.snapshot().port_overrides.push_back(
      {.port = {VertexId{0}, 0}, .is_output = true, .late_joiner_history_depth = 12});
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(find_op(plan, "a").outputs[0].late_joiner_history_depth == 12);
  CHECK(configurations(plan) == "1 setup 1\n2 graph 12\n");
}

TEST_CASE("kept history takes slots of the pool, through outputs that pass tensors on, too") {
  const auto slots = [](std::uint32_t at_source, std::uint32_t at_relay) {
    TestGraph graph;
    graph.source("a").relay("b").sink("c").flow("a.out", "b.in").flow("b.out", "c.in");
    graph.tensor_output("a.out", pool_in(MemoryKind::kHost)).tensor_input("b.in");
    graph.tensor_output("b.out", {}).tensor_input("c.in");
    graph.output("a.out").late_joiner_history_depth = at_source;
    graph.output("b.out").late_joiner_history_depth = at_relay;
    const ExecutionPlan plan = graph.compile();
    const auto& pool = plan.tensor_allocations()[0];
    CHECK(pool.active_slot_count == pool.slot_count);
    return pool;
  };
  const std::uint32_t without = slots(0, 0).slot_count;
  CHECK(slots(5, 0).slot_count == without + 5);
  const auto both = slots(5, 8);
  CHECK(both.slot_count == without + 13);
  bool named = false;
  for (const auto& contributor : both.contributors) {
    if (contributor.contributor != "late joiners of b.out") continue;
    named = true;
    CHECK(contributor.maximum_distinct_slots == 8);
    CHECK(contributor.reasons == std::vector{TensorSlotClaimReason::kTransportFanOut});
  }
  CHECK(named);
}

TEST_CASE("history beyond all numbers is refused, not wrapped") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  graph.tensor_output("a.out", pool_in(MemoryKind::kHost)).tensor_input("b.in");
  graph.output("a.out").late_joiner_history_depth = 0xffff'ffffU;
  CHECK(graph.diagnostics().find("TENSOR_POOL_BYTES_OVERFLOW") != std::string::npos);
}

TEST_CASE("a pass-through word of the graph leaves a pool in place") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  graph.tensor_output("a.out", pool_in(MemoryKind::kHost)).tensor_input("b.in");
  graph.snapshot().port_overrides.push_back(
      {.port = {VertexId{0}, 0},
       .is_output = true,
       .produces_tensor = TensorOutputSpec{.bounds = tensor_bounds(400)}});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.tensor_allocations().size() == 1);
  CHECK(plan.tensor_allocations()[0].slot_bytes == 512);
  CHECK(configurations(plan) ==
        "1 setup 1\n3 setup host\n4 setup uint8\n5 setup 2\n7 graph 400 (1000)\n"
        "8 setup runtime_pool\n");
}

TEST_CASE("an alias stands beside the name in diagnostics") {
  TestGraph graph;
  graph.sink("b");
  graph.source("a").tensor_output("a.out", {.storage = TensorOutputStorage::kRuntimePool});
  graph.snapshot().port_overrides.push_back(
      {.port = {VertexId{1}, 0}, .is_output = true, .diagnostic_alias = "left-camera"});
  CHECK(graph.diagnostics().find("at a.out (left-camera): the pool states no memory kind") !=
        std::string::npos);
}

/// A few values of each fact, none included.
TensorOutputSpec random_spec(std::mt19937& random) {
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  TensorOutputSpec spec;
  if (below(2) == 0)
    spec.representation.memory_kind = below(2) == 0 ? MemoryKind::kHost : MemoryKind::kCudaDevice;
  if (below(2) == 0) spec.representation.dtype = below(2) == 0 ? kUInt8 : kFloat32;
  if (below(2) == 0) spec.representation.rank = below(3);
  if (below(2) == 0) spec.bounds.max_rank = below(4);
  if (below(2) == 0) spec.bounds.max_byte_span = below(4);
  if (below(2) == 0) spec.storage = TensorOutputStorage::kRuntimePool;
  return spec;
}

/// Whether tensors that `narrow` admits are all admitted by `wide`.
template <class Fact>
bool implies(const std::optional<Fact>& narrow_fact, const std::optional<Fact>& wide_fact) {
  return !wide_fact || (narrow_fact && *narrow_fact == *wide_fact);
}

TEST_CASE("narrowing never admits more than setup() or the graph do, and keeps pools") {
  std::mt19937 random(5);
  int refused = 0;
  for (int round = 0; round < 4'000; ++round) {
    const TensorOutputSpec declared = random_spec(random);
    const TensorOutputSpec refinement = random_spec(random);
    std::optional<TensorOutputSpec> joined = declared;
    const bool ok = narrow(joined, {}, refinement).empty();
    REQUIRE(joined);
    if (!ok) {
      ++refused;
      CHECK(joined->storage == declared.storage);
      CHECK(joined->bounds.max_byte_span == declared.bounds.max_byte_span);
      CHECK(joined->representation.rank == declared.representation.rank);
      continue;
    }
    CHECK(joined->storage == declared.storage);
    for (const TensorOutputSpec& wide : {declared, refinement}) {
      CHECK(implies(joined->representation.memory_kind, wide.representation.memory_kind));
      CHECK(implies(joined->representation.rank, wide.representation.rank));
      CHECK((!wide.representation.dtype || joined->representation.dtype));
      CHECK((!wide.bounds.max_rank || joined->bounds.max_rank <= wide.bounds.max_rank));
      CHECK((!wide.bounds.max_byte_span ||
             joined->bounds.max_byte_span <= wide.bounds.max_byte_span));
    }
  }
  CHECK(refused > 400);
  CHECK(refused < 3'600);
}

TEST_CASE("where setup() says nothing of tensors, all of the graph's word counts") {
  std::optional<TensorOutputSpec> declared;
  CHECK(narrow(declared, {}, pool_in(MemoryKind::kHost)).empty());
  REQUIRE(declared);
  CHECK(declared->storage == TensorOutputStorage::kRuntimePool);
}

TEST_CASE("what setup() derives is replaced, resized and moved by nobody, and may be narrowed") {
  const TensorOutputDerivations derived{
      .byte_span = tensor_byte_span(100),
      .memory_kind = parameter_memory_kind(param_ref<&ResizeParams::kind>())};
  const auto refused = [&](const TensorOutputSpec& refinement) {
    std::optional<TensorOutputSpec> declared =
        TensorOutputSpec{.storage = TensorOutputStorage::kRuntimePool};
    return narrow(declared, derived, refinement);
  };
  CHECK(refused({.storage = TensorOutputStorage::kRuntimePool}) ==
        "setup() derives the pool by a formula or a parameter, the graph replaces it");
  CHECK(refused({.bounds = tensor_bounds(50)}) ==
        "setup() derives max_byte_span by a formula, the graph states 50");
  CHECK(refused({.representation = {.memory_kind = MemoryKind::kHost}}) ==
        "setup() derives the memory kind from a parameter, the graph states host");
  CHECK(refused({.representation = {.dtype = kUInt8, .rank = 3}}).empty());
}

}  // namespace
}  // namespace weftline
