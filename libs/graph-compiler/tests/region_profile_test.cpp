// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "test_graph.hpp"

namespace weftline {
namespace {

/// a -> b -> c, whose queues have the depth that nobody speaks for.
TestGraph chain(Profile profile) {
  TestGraph graph;
  graph.source("a").relay("b").sink("c").flow("a.out", "b.in").flow("b.out", "c.in");
  graph.options.profile = profile;
  return graph;
}

TestGraph& add_region(TestGraph& graph, std::string name, std::vector<VertexId> members,
                      Profile profile) {
  graph.snapshot().regions.push_back(
      {.name = std::move(name), .members = std::move(members), .profile = profile});
  return graph;
}

std::size_t refusals(const TestGraph& graph, const std::string& of) {
  const std::string lines = graph.diagnostics();
  std::size_t count = 0;
  for (std::size_t at = lines.find(of); at != std::string::npos; at = lines.find(of, at + 1)) {
    ++count;
  }
  return count;
}

TEST_CASE("a region's stricter profile counts for what flows into its operators, and only there") {
  TestGraph graph = chain(Profile::kDevelopment);
  CHECK(graph.compile().ok());
  add_region(graph, "vision", {VertexId{2}}, Profile::kDeployment);
  CHECK(graph.diagnostics() ==
        "error PROFILE_QUEUE_DEFAULT_DEPTH at b.out -> c.in: the queue has the default depth of 4, "
        "for want of a rate or a horizon, which is refused under profile deployment of region "
        "vision. Fix: give ConnectionOptions::queue_depth, or state the rate and how long samples "
        "may pile up\n");
}

TEST_CASE("of overlapping regions the strictest counts, once") {
  TestGraph graph = chain(Profile::kDevelopment);
  add_region(graph, "lax", {VertexId{1}, VertexId{2}}, Profile::kDevelopment);
  add_region(graph, "some", {VertexId{1}, VertexId{2}}, Profile::kDeployment);
  add_region(graph, "rt", {VertexId{2}}, Profile::kStrict);
  CHECK(refusals(graph, "of region rt") == 1);
  CHECK(refusals(graph, "of region some") == 1);
  CHECK(refusals(graph, "error") == 2);
}

TEST_CASE("a laxer region loosens nothing") {
  TestGraph graph = chain(Profile::kDeployment);
  add_region(graph, "lax", {VertexId{1}, VertexId{2}}, Profile::kDevelopment);
  CHECK(refusals(graph, "of the graph") == 2);
}

}  // namespace
}  // namespace weftline
