// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>

#include "weftline/graph/graph.hpp"

using namespace weftline;

namespace {

class Relay final : public Operator<> {
 public:
  Input<float> in;
  Output<float> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

/// The token that an authoring call throws; empty when it does not.
template <class Call>
std::string thrown_token(Call&& call) {
  try {
    call();
  } catch (const RuntimeError& error) {
    return std::string(error.error().token);
  }
  return {};
}

TEST_CASE("topics are taken down with their ports and options, imports beside exports") {
  Graph graph{"demo"};
  auto a = graph.op<Relay>("a");
  auto b = graph.op<Relay>("b");
  TopicOptions options;
  options.endpoint_name = "left";
  options.bounds.subscriber.queue_depth = 3;
  const auto in = graph.import_topic<float>("holomq://cam/left", options);
  const auto out = graph.export_topic<float>("weftline://cam/out");
  graph.add_flow(in.output(), a->in);
  graph.add_flow(in.output(), b->in);
  graph.add_flow(a->out, out.input());
  const GraphSnapshot snapshot = graph.snapshot();
  REQUIRE(snapshot.imports.size() == 1);
  const ImportSnapshot& import = snapshot.imports.front();
  CHECK(import.uri == "holomq://cam/left");
  CHECK(import.payload == payload_identity<float>());
  CHECK(import.options.endpoint_name == "left");
  CHECK(import.options.bounds.subscriber.queue_depth == 3U);
  REQUIRE(import.targets.size() == 2);
  CHECK(import.targets[1] == PortRef{VertexId{1}, 0});
  REQUIRE(snapshot.exports.size() == 1);
  CHECK(snapshot.exports.front().sources.size() == 1);
}

TEST_CASE("a topic's URI has one of two schemes and a path") {
  Graph graph{"demo"};
  for (const std::string& uri :
       {std::string(), std::string("weftline://"), std::string("holomq://"),
        std::string("http://a"), std::string("weftline:/a"), std::string("Weftline://a"),
        std::string(1'000'000, 'x')}) {
    CHECK(thrown_token([&] { graph.import_topic<float>(uri); }) == "GRAPH_TOPIC_URI_INVALID");
    CHECK(thrown_token([&] { graph.export_topic<float>(uri); }) == "GRAPH_TOPIC_URI_INVALID");
  }
  CHECK(graph.snapshot().imports.empty());
  CHECK(graph.snapshot().exports.empty());
  CHECK(thrown_token([&] { graph.import_topic<float>("weftline://a"); }).empty());
  CHECK(thrown_token([&] { graph.import_topic<float>("holomq://a"); }).empty());
}

TEST_CASE("a refused flow to or from a topic changes nothing") {
  Graph graph{"demo"};
  auto a = graph.op<Relay>("a");
  const auto in = graph.import_topic<float>("weftline://in");
  graph.add_flow(in.output(), a->in);
  CHECK(thrown_token([&] { graph.add_flow(in.output(), a->in); }) == "GRAPH_FLOW_DUPLICATE");

  auto other = std::make_unique<Graph>("other");
  auto stranger = other->op<Relay>("a");
  const auto foreign_in = other->import_topic<float>("weftline://in");
  const auto foreign_out = other->export_topic<float>("weftline://out");
  CHECK(thrown_token([&] { graph.add_flow(foreign_in.output(), a->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(thrown_token([&] { graph.add_flow(a->out, foreign_out.input()); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(thrown_token([&] { graph.add_flow(in.output(), stranger->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  other.reset();
  CHECK(thrown_token([&] { graph.add_flow(foreign_in.output(), a->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(thrown_token([&] { graph.add_flow(ImportOutlet<float>{}, a->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");

  const GraphSnapshot snapshot = graph.snapshot();
  CHECK(snapshot.imports.front().targets.size() == 1);
  CHECK(snapshot.exports.empty());
}

}  // namespace
