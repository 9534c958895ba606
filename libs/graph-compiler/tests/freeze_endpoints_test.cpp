// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "test_graph.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"

namespace weftline {
namespace {

TestGraph with_topic(std::string uri, TopicOptions options = {}) {
  TestGraph graph("motion");
  graph.source("a").topic(std::move(uri), {"a.out"}, std::move(options));
  return graph;
}

std::string name_for(std::string uri) {
  const ExecutionPlan plan = with_topic(std::move(uri)).compile();
  REQUIRE(plan.ok());
  return plan.endpoint_catalog().endpoints().front().name;
}

TEST_CASE("an endpoint without a name gets one from its URI") {
  CHECK(name_for("weftline://events") == "events");
  CHECK(name_for("weftline://camera/left/boxes") == "camera.left.boxes");
  CHECK(name_for("weftline:///rooted") == "rooted");
  CHECK(name_for("weftline://host:80/x?y") == "host_80.x_y");
}

TEST_CASE("the catalog is byte for byte what its builder makes of the same boundary") {
  TopicOptions options{.endpoint_name = "boxes", .queue_depth = 16};
  options.attach = {.peer = PeerRequirement::kOptional, .wait = std::chrono::milliseconds(5)};
  TestGraph graph = with_topic("weftline://b", options);
  graph.source("c").topic("holomq://a", {"c.out"});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());

  auto builder = ChannelEndpointCatalog::builder("motion");
  REQUIRE(builder.export_topic<std::uint32_t>(
      "boxes", "weftline://b",
      {.queue_depth = 16, .peer = PeerRequirement::kOptional, .attach_timeout_ns = 5'000'000}));
  REQUIRE(builder.export_topic<std::uint32_t>("a", "weftline://a",
                                              {.name_origin = EndpointNameOrigin::kGenerated}));
  const auto catalog = std::move(builder).build();
  REQUIRE(catalog);
  CHECK(plan.endpoint_catalog().json() == catalog->json());
  CHECK(plan.endpoint_catalog().digest() == catalog->digest());
}

TEST_CASE("export edges name the endpoint's place in the catalog and the output that feeds it") {
  TestGraph graph = with_topic("weftline://zoo");
  graph.source("c").topic("weftline://ape", {"c.out"});
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.ok());
  const auto& edges = plan.records().export_edges;
  REQUIRE(edges.size() == 2);
  CHECK(edges[0].endpoint == EndpointId{0});
  CHECK(edges[0].endpoint_name == "ape");
  CHECK(plan.records().output_name(edges[0].source) == "c.out");
  CHECK(edges[1].endpoint_name == "zoo");
  CHECK(plan.records().output_name(edges[1].source) == "a.out");
}

TEST_CASE("one output may feed several topics and operators") {
  TestGraph graph = with_topic("weftline://one");
  graph.topic("weftline://two", {"a.out"}).sink("b").flow("a.out", "b.in");
  const ExecutionPlan plan = graph.compile();
  CHECK(plan.ok());
  CHECK(plan.records().export_edges.size() == 2);
}

TEST_CASE("a graph without topics has an empty catalog") {
  TestGraph graph;
  CHECK(graph.source("a").compile().endpoint_catalog().empty());
}

TEST_CASE("more endpoints than one catalog may hold are refused") {
  TestGraph graph = with_topic("weftline://first");
  const std::string filler(900, 'x');
  for (int i = 0; i < 16'000; ++i) {
    std::string name = std::to_string(i);
    graph.topic("weftline://" + filler, {"a.out"}, {.endpoint_name = std::move(name)});
  }
  const ExecutionPlan plan = graph.compile();
  REQUIRE(plan.diagnostics().size() == 1);
  CHECK(plan.diagnostics()[0].token == "CATALOG_TOO_LARGE");
  CHECK(plan.endpoint_catalog().empty());
}

}  // namespace
}  // namespace weftline
