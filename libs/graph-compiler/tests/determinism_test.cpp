// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

#include "author_differently.hpp"
#include "random_boundary.hpp"
#include "random_graph.hpp"
#include "random_rates.hpp"
#include "test_graph.hpp"

namespace weftline {
namespace {

TEST_CASE("the same graph gives the same bytes and digest each time") {
  const TestGraph graph = random_graph(7);
  const ExecutionPlan first = graph.compile();
  const ExecutionPlan second = graph.compile();
  CHECK(first.json() == second.json());
  CHECK(first.digest() == second.digest());
  CHECK(first.digest().starts_with("sha256:"));
}

TEST_CASE("the order of authoring calls leaves no trace, in good graphs and in bad ones") {
  std::mt19937 random(11);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    TestGraph graph = with_random_boundary(random_graph(seed), seed);
    auto& snapshot = graph.snapshot();
    snapshot.clocks.push_back({"spare", snapshot.clocks.front().factory, true});
    snapshot.partitions.push_back("unused");
    if (seed % 4 == 1) snapshot.flows.pop_back();
    if (seed % 4 == 2) {
      graph.relay("loop1")
          .relay("loop2")
          .flow("loop1.out", "loop2.in")
          .flow("loop2.out", "loop1.in");
    }
    if (seed % 4 == 3 && snapshot.flows.front().source != snapshot.flows.back().source) {
      snapshot.flows.push_back({snapshot.flows.front().source, snapshot.flows.back().target, {}});
    }
    const ExecutionPlan plan = graph.compile();
    for (int round = 0; round < 3; ++round) {
      author_differently(snapshot, random);
      const ExecutionPlan permuted = graph.compile();
      CHECK(permuted.json() == plan.json());
      CHECK(permuted.digest() == plan.digest());
    }
  }
}

TEST_CASE("the order of authoring calls leaves no trace in rates and sizes") {
  std::mt19937 random(12);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    INFO("seed " << seed);
    TestGraph graph = random_rate_graph(seed);
    const ExecutionPlan plan = graph.compile();
    CHECK(graph.compile().json() == plan.json());
    for (int round = 0; round < 3; ++round) {
      author_differently(graph.snapshot(), random);
      CHECK(graph.compile().json() == plan.json());
    }
  }
}

TEST_CASE("factories move with their operators and clocks") {
  struct Named final : OperatorBase {
    explicit Named(int number_in) : number(number_in) {}
    void setup(OperatorSpec&) override {}
    expected<void, Error> compute(ExecutionContext&) override { return {}; }
    int number;
  };
  TestGraph graph;
  graph.source("zoo").source("ape");
  graph.vertex("zoo").factory = [] { return std::make_unique<Named>(26); };
  graph.vertex("ape").factory = [] { return std::make_unique<Named>(1); };
  const ExecutionPlan plan = graph.compile();
  const auto number_of = [&](std::string_view path) {
    const auto made = plan.operator_factory(find_op(plan, path).id)();
    return static_cast<const Named&>(*made).number;
  };
  CHECK(number_of("ape") == 1);
  CHECK(number_of("zoo") == 26);
}

TEST_CASE("the device catalog and each setting are part of the digest") {
  TestGraph graph;
  graph.source("a").sink("b").flow("a.out", "b.in");
  const std::string digest = graph.compile().digest();
  TestGraph other_devices = graph;
  other_devices.options.devices.devices.pop_back();
  TestGraph other_depth = graph;
  other_depth.snapshot().flows.front().options.queue_depth = 4;
  TestGraph other_version = graph;
  other_version.vertex("b").type_version = 2;
  TestGraph other_headroom = graph;
  other_headroom.options.automatic_queue_sizing.headroom_ratio = {3, 2};
  CHECK(other_headroom.compile().digest() != digest);
  CHECK(other_devices.compile().digest() != digest);
  CHECK(other_depth.compile().digest() != digest);
  CHECK(other_version.compile().digest() != digest);
}

}  // namespace
}  // namespace weftline
