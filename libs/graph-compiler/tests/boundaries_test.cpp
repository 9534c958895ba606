// SPDX-License-Identifier: Apache-2.0
//
// What crosses the border of the process, and where it is put.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <random>
#include <string>

#include "test_graph.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"

namespace weftline {
namespace {

TopicOptions carrying(MemoryKind kind) { return {.tensor = boundary(kind)}; }

const EndpointRecord& endpoint(const ExecutionPlan& plan, std::string_view name) {
  const EndpointRecord* found = plan.endpoint_catalog().find(name);
  if (found == nullptr) throw std::logic_error("no endpoint " + std::string(name));
  return *found;
}

TEST_CASE("an import feeds its inputs, each by an edge of its own") {
  TestGraph graph("arm");
  graph.sink("b").sink("c").import("holomq://cam/left", {"c.in", "b.in"});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  REQUIRE(plan.import_edges().size() == 2);
  CHECK(plan.records().input_name(plan.import_edges()[0].target) == "b.in");
  CHECK(plan.records().input_name(plan.import_edges()[1].target) == "c.in");
  CHECK(plan.import_edges()[0].queue_depth == 8);
  CHECK(plan.import_edges()[0].endpoint == EndpointId{0});
  REQUIRE(plan.external_topics().size() == 1);
  const ExternalTopicRecord& topic = plan.external_topics().front();
  CHECK(topic.uri == "weftline://cam/left");
  CHECK(topic.endpoint_name == "cam.left");
  CHECK(topic.service_id == "arm/cam.left");
  CHECK(topic.direction == TopicDirection::kImport);
  CHECK(topic.locality == EndpointLocality::kCrossProcess);
  CHECK(topic.generation_capacity == 1);
  CHECK(endpoint(plan, "cam.left").incarnations == 1);
}

TEST_CASE("what takes from another process starts a lane, and the decision says why") {
  TestGraph graph;
  graph.relay("a").relay("b").op("c", {"x", "y"}, {});
  graph.import("weftline://in", {"a.in"}).flow("a.out", "b.in").flow("b.out", "c.x");
  graph.import("weftline://side", {"c.y"});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const auto& decisions = plan.records().partition_decisions;
  CHECK(decisions[0].kind == PartitionDecisionKind::kBoundarySplit);
  CHECK(decisions[0].reason == "takes from another process by weftline://in");
  CHECK(decisions[1].kind == PartitionDecisionKind::kJoin);
  CHECK(decisions[2].kind == PartitionDecisionKind::kFanInSplit);
  CHECK(decisions[2].reason == "2 flows meet here, 1 of them from other processes");
  CHECK(find_op(plan, "a").partition == find_op(plan, "b").partition);
  CHECK(find_op(plan, "c").partition != find_op(plan, "b").partition);
}

TEST_CASE("an import has no rate, so what its input expects is used and nothing follows from it") {
  TestGraph graph;
  graph.relay("a").sink("b").import("weftline://in", {"a.in"}).flow("a.out", "b.in");
  graph.follows("a.out", {1, 1});
  const auto rate = [&] {
    const ExecutionPlan plan = graph.compile();
    return *plan.records().input_rate({VertexId{0}, 0});
  };
  CHECK(rate().basis == PortRateBasis::kUndeclared);
  graph.input("a.in").expected_rate = Rate::hz(30);
  CHECK(rate().basis == PortRateBasis::kUndeclared);
  graph.accumulates("a.in", Horizon::seconds(1, 10));
  CHECK(rate().basis == PortRateBasis::kExpected);
  CHECK(rate().nominal == Rational::make(30, 1).value());
  const ExecutionPlan plan = graph.compile();
  CHECK_FALSE(plan.records().input_rate({VertexId{1}, 0})->nominal);
}

TEST_CASE("restarts are off unless allowed, allowed for two, and a deployment may raise that") {
  const auto admitted = [](TopicRestartOptions restart, std::optional<std::uint32_t> raised) {
    TestGraph graph;
    graph.sink("b").import("weftline://in", {"b.in"}, {.restart = restart});
    if (raised) graph.options.deployment.raise_import_generations({"in", *raised});
    const ExecutionPlan plan = graph.compile();
    CHECK(plan.ok());
    CHECK(plan.external_topics().front().generation_capacity == endpoint(plan, "in").incarnations);
    return endpoint(plan, "in").incarnations;
  };
  CHECK(admitted({}, std::nullopt) == 1);
  CHECK(admitted({.allow_external_restart = true}, std::nullopt) == 2);
  CHECK(admitted({.allow_external_restart = true}, 2) == 2);
  CHECK(admitted({.allow_external_restart = true}, 65'536) == 65'536);
  CHECK(admitted({.allow_external_restart = true, .generation_capacity = 65'536}, std::nullopt) ==
        65'536);
}

TEST_CASE("an exported pool states its topic's contract, and a given contract may be wider") {
  TestGraph graph;
  graph.source("a").tensor_output("a.out", pool_in(MemoryKind::kHost));
  TestGraph wider = graph;
  graph.topic("weftline://out", {"a.out"});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const TensorBoundaryContract contract = endpoint(plan, "out").tensor.value();
  CHECK(contract.memory_kind == MemoryKind::kHost);
  CHECK(same_dtype(contract.dtype, kUInt8));
  CHECK(contract.rank == 2);
  CHECK(contract.max_byte_span == 1'000);

  TensorBoundaryContract room = boundary(MemoryKind::kHost);
  room.rank.reset();
  room.max_rank = 2;
  room.max_byte_span = 1'001;
  wider.topic("weftline://out", {"a.out"}, {.tensor = room});
  const ExecutionPlan other = wider.compile();
  REQUIRE(other.ok());
  CHECK(endpoint(other, "out").tensor->max_byte_span == 1'001);
}

TEST_CASE("an import's consumers are on its device and have a stream there") {
  for (const MemoryKind kind : {MemoryKind::kCudaDevice, MemoryKind::kPinnedHost}) {
    TestGraph graph;
    graph.sink("b").tensor_input("b.in").import("weftline://in", {"b.in"}, carrying(kind));
    graph.bind_import("in", kEmulated1).bind_import("in", kEmulated1);
    const ExecutionPlan plan = graph.compile();
    REQUIRE(plan.ok());
    CHECK(find_op(plan, "b").device == kEmulated1);
    REQUIRE(find_op(plan, "b").stream.valid());
    CHECK(plan.cuda_compute_streams()[0].device == kEmulated1);
    CHECK(plan.import_edges()[0].device == kEmulated1);
    CHECK(plan.external_topics()[0].device == kEmulated1);
  }
}

TEST_CASE("imported host tensors need no device and give none") {
  TestGraph graph;
  graph.sink("b").tensor_input("b.in");
  graph.import("weftline://in", {"b.in"}, carrying(MemoryKind::kHost));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK_FALSE(find_op(plan, "b").device);
  CHECK(plan.cuda_compute_streams().empty());
}

TEST_CASE("an import's device counts among those of an operator") {
  TestGraph graph;
  graph.relay("b").tensor_input("b.in").tensor_output("b.out", pool_in(MemoryKind::kCudaDevice));
  graph.sink("c").tensor_input("c.in").flow("b.out", "c.in");
  graph.import("weftline://in", {"b.in"}, carrying(MemoryKind::kCudaDevice));
  graph.bind("b", "out", kEmulated0).bind_import("in", kEmulated1);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.diagnostics().size() == 1);
  CHECK(plan.diagnostics()[0].token == "OPERATOR_DEVICE_CONFLICT");
  CHECK(plan.diagnostics()[0].message.find("input b.in (from endpoint in) on emulated:1") !=
        std::string::npos);
}

TEST_CASE("the writer of a pinned export has a stream, whether bound or by its own device") {
  TestGraph graph;
  graph.source("a").tensor_output("a.out", pool_in(MemoryKind::kPinnedHost));
  graph.topic("weftline://out", {"a.out"}).bind("a", "out", kEmulated1);
  const ExecutionPlan bound = graph.compile();
  REQUIRE(bound.ok());
  CHECK(find_op(bound, "a").device == kEmulated1);
  CHECK(find_op(bound, "a").stream.valid());
  CHECK(bound.tensor_allocations()[0].device == kEmulated1);
  CHECK(bound.external_topics()[0].device == kEmulated1);

  TestGraph fed;
  fed.source("a").tensor_output("a.out", pool_in(MemoryKind::kPinnedHost));
  fed.topic("weftline://out", {"a.out"}).relay("b").tensor_input("b.in").flow("a.out", "b.in");
  fed.tensor_output("b.out", pool_in(MemoryKind::kCudaDevice)).bind("b", "out", kEmulated0);
  fed.sink("c").tensor_input("c.in").flow("b.out", "c.in");
  const ExecutionPlan by_user = fed.compile();
  REQUIRE(by_user.ok());
  CHECK(find_op(by_user, "a").device == kEmulated0);
  CHECK(find_op(by_user, "a").stream.valid());
}

TEST_CASE("an import lends what its inputs hold, in hands, kept, and in queues behind them") {
  TestGraph graph;
  graph.relay("a").sink("b").sink("c");
  for (const std::string port : {"a.in", "b.in", "c.in"}) graph.tensor_input(port);
  graph.tensor_output("a.out", {}).flow("a.out", "c.in", {.queue_depth = 5});
  graph.input("b.in").retained_samples = 3;
  graph.import("weftline://in", {"a.in", "b.in"}, carrying(MemoryKind::kHost));
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  // a: 1, b: 1 + 3, behind a: 5 queued and 1 in the hands of c
  CHECK(plan.import_edges()[0].held_samples == 11);
  CHECK(plan.import_edges()[0].max_borrowed_samples == 11);
  CHECK(endpoint(plan, "in").max_borrowed_samples == 11);

  graph.snapshot().imports.front().options.bounds.subscriber.max_borrowed_samples = 11;
  CHECK(graph.compile().ok());
  graph.snapshot().imports.front().options.bounds.subscriber.max_borrowed_samples = 10;
  CHECK_FALSE(graph.compile().ok());
}

TEST_CASE("numbers are copied out of an import, so that nothing is held") {
  TestGraph graph;
  graph.sink("b").import("weftline://in", {"b.in"});
  graph.input("b.in").retained_samples = 70;
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  CHECK(plan.import_edges()[0].held_samples == 0);
  CHECK(plan.import_edges()[0].max_borrowed_samples == 1);
}

TEST_CASE("passed through memory is where its binding, its operator's, or its lane's SMs are") {
  const TensorOutputSpec passed{.representation = {.memory_kind = MemoryKind::kCudaDevice}};
  TestGraph graph;
  graph.op("a", {}, {"x", "y"}).op("b", {"x", "y"}, {});
  graph.tensor_output("a.x", passed).tensor_output("a.y", passed);
  graph.tensor_input("b.x", takes(MemoryKind::kCudaDevice)).tensor_input("b.y");
  graph.flow("a.x", "b.x").flow("a.y", "b.y").bind("a", "y", kEmulated1);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const auto placements = plan.tensor_output_placements();
  REQUIRE(placements.size() == 2);
  CHECK(placements[0].device == kEmulated1);
  CHECK(placements[0].origin == TensorOutputPlacementOrigin::kOperator);
  CHECK(placements[1].origin == TensorOutputPlacementOrigin::kBound);
  CHECK(find_op(plan, "a").device == kEmulated1);
  CHECK(find_op(plan, "b").device == kEmulated1);
  CHECK(plan.tensor_allocations().empty());
}

TEST_CASE("where an operator's inputs are says nothing about what it passes through") {
  TestGraph graph;
  graph.source("a").relay("b").sink("c").flow("a.out", "b.in").flow("b.out", "c.in");
  graph.tensor_output("a.out", pool_in(MemoryKind::kCudaDevice)).tensor_input("b.in");
  graph.tensor_output("b.out", {.representation = {.memory_kind = MemoryKind::kCudaDevice}});
  graph.tensor_input("c.in", takes(MemoryKind::kCudaDevice)).bind("a", "out", kEmulated0);
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.diagnostics().size() == 1);
  CHECK(plan.diagnostics()[0].token == "DEVICE_UNRESOLVED");
  CHECK(plan.diagnostics()[0].place == "b.out");
  CHECK(graph.bind("b", "out", kEmulated0).compile().ok());
}

TEST_CASE("an output that passes device memory to nobody needs no device") {
  TestGraph graph;
  graph.source("a").tensor_output("a.out",
                                  {.representation = {.memory_kind = MemoryKind::kCudaDevice}});
  CHECK(graph.compile().ok());
}

TEST_CASE("a given catalog admits the graph's own, and topics that are others'") {
  TestGraph graph;
  graph.sink("b").import("weftline://in", {"b.in"});
  ChannelEndpointCatalogBuilder builder("test");
  REQUIRE(builder.import_topic<std::uint32_t>(
      "in", "weftline://elsewhere", {.peer = PeerRequirement::kOptional, .incarnations = 9}));
  REQUIRE(builder.import_topic<float>("other", "weftline://other"));
  graph.options.endpoint_catalog = std::move(builder).build().value();
  CHECK(graph.compile().ok());
}

/// The same boundary, written for the compiler and for the catalog's public builder.
void check_same_catalog(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  TestGraph graph("random");
  ChannelEndpointCatalogBuilder builder("random");
  const std::uint32_t count = 1 + below(6);
  for (std::uint32_t number = 0; number < count; ++number) {
    const std::string id = std::to_string(number);
    const bool import = below(2) == 0;
    const bool tensor = below(2) == 0;
    TopicOptions options;
    EndpointOptions built;
    if (below(2) == 0) options.endpoint_name = "named" + id;
    built.name_origin =
        options.endpoint_name ? EndpointNameOrigin::kAuthored : EndpointNameOrigin::kGenerated;
    if (below(2) == 0) options.queue_depth = built.queue_depth = 1 + below(65'536);
    if (below(2) == 0) {
      options.bounds.publisher.max_subscribers = built.max_subscribers = 1 + below(64);
    }
    if (below(2) == 0) {
      options.bounds.publisher.max_loaned_samples = built.max_loaned_samples = 1 + below(64);
    }
    if (below(2) == 0) {
      options.bounds.subscriber.max_borrowed_samples = built.max_borrowed_samples = 1 + below(64);
    }
    if (below(2) == 0) options.attach.peer = built.peer = PeerRequirement::kOptional;
    built.attach_timeout_ns = below(1'000'000);
    options.attach.wait = std::chrono::nanoseconds(built.attach_timeout_ns);
    if (below(2) == 0) options.capture_time = built.capture_time = RequireCaptureTime::kYes;
    if (below(2) == 0) {
      options.clock_health = {.capability = ClockHealthCapability::kStatusReports,
                              .requirement = ClockHealthRequirement::kFreshHealthyReport,
                              .max_report_age = std::chrono::nanoseconds(1 + below(1'000)),
                              .action = EndpointClockHealthDisposition::kDegraded};
      built.clock_health = options.clock_health;
    }
    if (import && below(2) == 0) {
      built.incarnations = 2 + below(1'000);
      options.restart = {.allow_external_restart = true, .generation_capacity = built.incarnations};
    }
    if (tensor) options.tensor = built.tensor = boundary(MemoryKind::kHost);
    const std::string uri = "weftline://topic/" + id;
    const std::string name = options.endpoint_name.value_or("topic." + id);
    const std::string op = "op" + id;
    if (import) {
      graph.sink(op);
      if (tensor) graph.tensor_input(op + ".in");
      graph.import(uri, {op + ".in"}, options);
      REQUIRE((tensor ? builder.import_topic<Tensor>(name, uri, built)
                      : builder.import_topic<std::uint32_t>(name, uri, built)));
    } else {
      graph.source(op);
      if (tensor) graph.tensor_output(op + ".out", pool_in(MemoryKind::kHost));
      graph.topic(uri, {op + ".out"}, options);
      REQUIRE((tensor ? builder.export_topic<Tensor>(name, uri, built)
                      : builder.export_topic<std::uint32_t>(name, uri, built)));
    }
  }
  INFO("seed " << seed << "\n" << graph.diagnostics());
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const auto catalog = std::move(builder).build();
  REQUIRE(catalog);
  REQUIRE(plan.endpoint_catalog().json() == catalog->json());
  REQUIRE(plan.external_topics().size() == count);
  // What is its own authority agrees with itself.
  graph.options.endpoint_catalog = *catalog;
  REQUIRE(graph.compile().ok());
}

TEST_CASE("the catalog of a random boundary is what the public builder makes of it") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) check_same_catalog(seed);
}

}  // namespace
}  // namespace weftline
