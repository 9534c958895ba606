// SPDX-License-Identifier: Apache-2.0
//
// Every diagnostic about embedded graphs, configured ports, regions, partitions and lifecycle, word
// by word. diagnostics_test.cpp checks them.

#include "diagnostic_cases.hpp"

namespace weftline {
namespace {

TestGraph linear() {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  return graph;
}

TestGraph pooled(MemoryKind kind) {
  TestGraph graph = linear();
  graph.tensor_output("a.out", pool_in(kind)).tensor_input("b.in");
  if (kind == MemoryKind::kCudaDevice) graph.bind("a", "out", kEmulated0);
  return graph;
}

/// All operators of the graph in one region under a constraint.
TestGraph constrained(TestGraph graph, RegionConstraint constraint) {
  RegionSnapshot region{.name = "rt", .constraints = {constraint}};
  for (std::uint32_t i = 0; i < graph.snapshot().vertices.size(); ++i) {
    region.members.push_back(VertexId{i});
  }
  graph.snapshot().regions.push_back(std::move(region));
  return graph;
}

TestGraph with_override(TestGraph graph, PortOverrideSnapshot given) {
  graph.snapshot().port_overrides.push_back(std::move(given));
  return graph;
}

/// Five sources, each of the later four behind "a" in start order; "a" may be restarted.
TestGraph fan_of_restarts() {
  TestGraph graph;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    graph.op(name, {}, {});
  }
  for (std::uint32_t i = 1; i < 5; ++i) {
    graph.snapshot().lifecycle_order.push_back({VertexId{0}, VertexId{i}});
  }
  graph.snapshot().restart_grants.push_back({.target = VertexId{0}});
  graph.options.lifecycle_transactions.emplace();
  return graph;
}

TestGraph on_two_devices() {
  TestGraph graph;
  graph.source("a").source("b");
  for (const char* name : {"a", "b"}) {
    graph.tensor_output(std::string(name) + ".out", pool_in(MemoryKind::kCudaDevice));
    graph.sink(std::string(name) + "x").tensor_input(std::string(name) + "x.in");
    graph.flow(std::string(name) + ".out", std::string(name) + "x.in");
  }
  return graph.bind("a", "out", kEmulated0).bind("b", "out", kEmulated1);
}

}  // namespace

std::vector<DiagnosticCase> authoring_diagnostic_cases() {
  return {
      {"an exported input that nothing is led to",
       changed(TestGraph(),
               [](TestGraph& graph) {
                 graph.sink("fusion/a").sink("fusion/b");
                 GraphInstanceSnapshot fusion{.path = "fusion", .type_id = "Fusion"};
                 fusion.inputs.push_back(
                     {.name = "frames", .ports = {{VertexId{0}, 0}, {VertexId{1}, 0}}});
                 graph.snapshot().instances.push_back(std::move(fusion));
               }),
       "error GRAPH_EXPORT_UNCONNECTED at fusion.frames: no flow leads to this exported input, "
       "which stands for fusion/a.in, fusion/b.in. Fix: add_flow() an output to it in the graph "
       "around fusion, or export it there\n"},
      {"a restart of too many operators",
       changed(fan_of_restarts(),
               [](TestGraph& graph) {
                 graph.options.lifecycle_transactions->max_closure_operators = 4;
               }),
       "error LIFECYCLE_CLOSURE_TOO_LARGE at a: more than 4 operators start after it and would "
       "restart with it. Fix: raise CompileOptions::lifecycle_transactions->max_closure_operators, "
       "or take out lifecycle_after() calls\n"},
      {"one restart from two stages",
       changed(fan_of_restarts(),
               [](TestGraph& graph) {
                 graph.snapshot().restart_grants.push_back(
                     {.target = VertexId{0}, .from_stage = LifecycleStage::kArm});
               }),
       "error LIFECYCLE_GRANT_CONFLICT at a: a restart by the outside is granted from stage arm "
       "and from start. Fix: grant it once\n"},
      {"a journal that is too small",
       changed(fan_of_restarts(),
               [](TestGraph& graph) {
                 graph.options.lifecycle_transactions->max_journal_entries = 14;
               }),
       "error LIFECYCLE_JOURNAL_TOO_SMALL at a: a restart of 5 operators from stage start writes "
       "15 journal entries, the limit is 14. Fix: raise "
       "CompileOptions::lifecycle_transactions->max_journal_entries\n"},
      {"bounds of nothing, and beyond the limit",
       changed(TestGraph(),
               [](TestGraph& graph) {
                 graph.options.lifecycle_transactions = {.max_closure_operators = 65'537,
                                                         .max_journal_entries = 0,
                                                         .max_pending_requests = 0};
               }),
       "error LIFECYCLE_OPTIONS_INVALID at lifecycle_transactions: max_closure_operators is 65537. "
       "Fix: set CompileOptions::lifecycle_transactions->max_closure_operators to 1 to 65536\n"
       "error LIFECYCLE_OPTIONS_INVALID at lifecycle_transactions: max_journal_entries is 0. Fix: "
       "set CompileOptions::lifecycle_transactions->max_journal_entries to 1 to 4294967295\n"
       "error LIFECYCLE_OPTIONS_INVALID at lifecycle_transactions: max_pending_requests is 0. Fix: "
       "set CompileOptions::lifecycle_transactions->max_pending_requests to 1 to 4294967295\n"},
      {"operators that start after one another",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.snapshot().lifecycle_order = {{VertexId{0}, VertexId{1}},
                                                     {VertexId{1}, VertexId{0}}};
               }),
       "error LIFECYCLE_ORDER_CYCLE at a: operators start after one another in a loop of 2: a -> b "
       "-> a. Fix: take out one of these lifecycle_after() calls\n"},
      {"a grant in a plan without restarts",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.snapshot().restart_grants = {
                     {.target = VertexId{1}}, {.requester = VertexId{0}, .target = VertexId{1}}};
               }),
       "warning LIFECYCLE_RESTART_DISABLED at b: a restart by a is granted, but this plan has no "
       "restarts. Fix: set CompileOptions::lifecycle_transactions, or take the grant out\n"
       "warning LIFECYCLE_RESTART_DISABLED at b: a restart by the outside is granted, but this "
       "plan has no restarts. Fix: set CompileOptions::lifecycle_transactions, or take the grant "
       "out\n"},
      {"one lane for all, and another one",
       changed(linear(),
               [](TestGraph& graph) {
                 graph.place("a", "other").snapshot().partitions.emplace_back("all");
                 graph.snapshot().include_all = 1;
               }),
       "error PARTITION_INCLUDE_ALL_CONFLICT at a: partition all includes all, but the operator is "
       "named in partition other. Fix: name no other partition, or do not call include_all()\n"},
      {"an operator in no partition",
       changed(
           linear(),
           [](TestGraph& graph) { graph.place("a", "lane").snapshot().exact_partitions = true; }),
       "error PARTITION_UNCOVERED at b: no authored partition names the operator, and the graph "
       "requires exact partitions. Fix: add() it to a partition, or do not call "
       "require_exact_partitions()\n"},
      {"history without a topic",
       with_override(linear(), {.port = {VertexId{0}, 0},
                                .is_output = true,
                                .late_joiner_history_depth = 3,
                                .diagnostic_alias = "numbers"}),
       "error PORT_HISTORY_NOT_EXPORTED at a.out: the output keeps 3 samples for peers that attach "
       "later, but no topic exports it. Fix: add_flow() it to an exported topic, or take "
       "late_joiner_history_depth() out\n"},
      {"two depths of one queue",
       with_override(changed(linear(),
                             [](TestGraph& graph) {
                               graph.snapshot().flows.front().options.queue_depth = 5;
                             }),
                     {.port = {VertexId{1}, 0}, .queue_depth = 6}),
       "error PORT_OVERRIDE_CONFLICT at a.out -> b.in: the flow has the given depth of 5, the "
       "input is configured with 6. Fix: give the depth once, to the flow or to configure()\n"},
      {"a graph that contradicts setup() about an output",
       with_override(
           pooled(MemoryKind::kHost),
           {.port = {VertexId{0}, 0},
            .is_output = true,
            .produces_tensor =
                TensorOutputSpec{.representation = {.memory_kind = MemoryKind::kPinnedHost,
                                                    .dtype = kFloat32,
                                                    .rank = 2},
                                 .bounds = tensor_bounds(1'001)}}),
       "error PORT_TENSOR_OVERRIDE_CONFLICT at a.out: setup() states memory kind host, the graph "
       "pinned_host; setup() states dtype uint8, the graph float32; setup() bounds max_byte_span "
       "by 1000, the graph by 1001. Fix: let configure().produces_tensor() only state what setup() "
       "leaves open, or lower its bounds\n"},
      {"a graph that makes a pool of a pass-through output",
       with_override(
           changed(linear(),
                   [](TestGraph& graph) { graph.tensor_output("a.out", {}).tensor_input("b.in"); }),
           {.port = {VertexId{0}, 0},
            .is_output = true,
            .produces_tensor = pool_in(MemoryKind::kHost)}),
       "error PORT_TENSOR_OVERRIDE_CONFLICT at a.out: setup() declares an output that passes "
       "through, the graph a pool. Fix: let configure().produces_tensor() only state what setup() "
       "leaves open, or lower its bounds\n"},
      {"a graph that contradicts setup() about an input",
       with_override(changed(pooled(MemoryKind::kHost),
                             [](TestGraph& graph) {
                               graph.tensor_input("b.in", {.representation = {.rank = 2}});
                             }),
                     {.port = {VertexId{1}, 0},
                      .expects_tensor = TensorInputSpec{.representation = {.rank = 3}}}),
       "error PORT_TENSOR_OVERRIDE_CONFLICT at b.in: setup() states rank 2, the graph 3. Fix: let "
       "configure().expects_tensor() only state what setup() leaves open, or lower its bounds\n"},
      {"one device for a region on two",
       constrained(on_two_devices(), RegionConstraint::kSingleDevice),
       "error REGION_DEVICE_CONFLICT at region rt: the region has one device, a is on emulated:0, "
       "but b is on emulated:1, bx is on emulated:1. Fix: bind their outputs to one device, or "
       "take them out of the region\n"},
      {"a region of nothing",
       changed(linear(),
               [](TestGraph& graph) { graph.snapshot().regions.push_back({.name = "rt"}); }),
       "warning REGION_EMPTY at region rt: the region has no operator. Fix: add() operators to it, "
       "or do not name it\n"},
      {"a lossless region behind a queue that drops",
       constrained(changed(linear(),
                           [](TestGraph& graph) {
                             graph.snapshot().flows.front().options.queue_policy =
                                 QueuePolicy::kDropOldest;
                           }),
                   RegionConstraint::kLossless),
       "error REGION_LOSSY_FLOW at region rt: the region is lossless, but these queues drop their "
       "oldest sample: a.out -> b.in. Fix: give these flows QueuePolicy::kBlocking, or take the "
       "operators out of the region\n"},
      {"a host-only region on a device",
       constrained(pooled(MemoryKind::kCudaDevice), RegionConstraint::kHostOnly),
       "error REGION_NOT_HOST_ONLY at region rt: the region is host-only, but a is on emulated:0, "
       "b is on emulated:0. Fix: keep their tensors in host memory, or take them out of the "
       "region\n"},
      {"a region of one partition in six",
       constrained(changed(TestGraph(),
                           [](TestGraph& graph) {
                             for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
                               graph.op(name, {}, {});
                             }
                           }),
                   RegionConstraint::kSinglePartition),
       "error REGION_PARTITION_CONFLICT at region rt: the region has one partition, a is in "
       "auto:a, but b is in auto:b, c is in auto:c, d is in auto:d, e is in auto:e and 1 more. "
       "Fix: add() them all to one authored partition, or take them out of the region\n"},
  };
}

}  // namespace weftline
