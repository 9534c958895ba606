// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/embedding.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "small_operators.hpp"
#include "thrown_token.hpp"

using namespace small;

namespace {

/// A body made by the test.
class Body final : public Graph {
 public:
  using Compose = std::function<void(Body&)>;
  Body(std::string name, Compose compose) : Graph(std::move(name)), compose_(std::move(compose)) {}
  GraphInput<std::uint32_t> in;
  GraphOutput<std::uint32_t> out;
  void run_again() { compose(); }

 protected:
  void compose() override { compose_(*this); }

 private:
  Compose compose_;
};

std::vector<std::string> paths(const GraphSnapshot& snapshot) {
  std::vector<std::string> all;
  for (const auto& vertex : snapshot.vertices) all.push_back(vertex.path);
  std::ranges::sort(all);
  return all;
}

/// "a.0 -> b/c.0", sorted.
std::vector<std::string> flows(const GraphSnapshot& snapshot) {
  std::vector<std::string> all;
  const auto name = [&](PortRef port) {
    return snapshot.vertices[port.vertex.value].path + "." + std::to_string(port.port);
  };
  for (const auto& flow : snapshot.flows) {
    all.push_back(name(flow.source) + " -> " + name(flow.target));
  }
  std::ranges::sort(all);
  return all;
}

/// `levels` graphs in one another, a relay in the last.
class Nest final : public Graph {
 public:
  Nest(std::string name, std::uint32_t levels) : Graph(std::move(name)), levels_(levels) {}
  GraphInput<std::uint32_t> in;
  GraphOutput<std::uint32_t> out;

 protected:
  void compose() override {
    if (levels_ == 1) {
      const auto relay = op<Relay>("relay");
      in = export_input("in", relay->in);
      out = export_output("out", relay->out);
    } else {
      const auto inner = embed<Nest>("n", levels_ - 1);
      in = export_input("in", inner->in);
      out = export_output("out", inner->out);
    }
  }

 private:
  std::uint32_t levels_;
};

/// Embeds itself without end.
class Endless final : public Graph {
 public:
  using Graph::Graph;

 protected:
  void compose() override { embed<Endless>("again"); }
};

/// Embeds while it is constructed.
class Eager final : public Graph {
 public:
  Eager(std::string name, std::uint32_t levels) : Graph(std::move(name)) {
    embed<Nest>("inner", levels);
  }
};

}  // namespace

TEST_CASE("an embedded graph is flat in the snapshot: paths, and flows through its ports") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto sink = graph.op<Sink>("sink");
  const auto left = graph.embed<Pair>("left");
  const auto right = graph.embed<Pair>("right");
  graph.add_flow(source->out, left->in);
  graph.add_flow(left->out, right->in, {.queue_depth = 7});
  graph.add_flow(right->out, sink->in);
  const GraphSnapshot snapshot = graph.snapshot();
  CHECK(paths(snapshot) == std::vector<std::string>{"left/first", "left/second", "right/first",
                                                    "right/second", "sink", "source"});
  CHECK(flows(snapshot) ==
        std::vector<std::string>{"left/first.0 -> left/second.0", "left/second.0 -> right/first.0",
                                 "right/first.0 -> right/second.0", "right/second.0 -> sink.0",
                                 "source.0 -> left/first.0"});
  CHECK((*left->first).path() == "left/first");
  REQUIRE(snapshot.instances.size() == 2);
  CHECK(snapshot.instances[0].path == "left");
  CHECK(snapshot.instances[0].members.size() == 2);
  CHECK(snapshot.instances[0].inputs[0].name == "in");
  CHECK(snapshot.instances[0].inputs[0].connected);
  CHECK(snapshot.instances[1].outputs[0].connected);
}

TEST_CASE("one exported input feeds several inner inputs, with the options of its flow") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto fan = graph.embed<Body>("fan", [](Body& body) {
    const auto a = body.op<Relay>("a");
    const auto pair = body.embed<Pair>("pair");
    body.in = body.export_input("in", a->in, pair->in);
  });
  graph.add_flow(source->out, fan->in, {.queue_policy = QueuePolicy::kDropOldest}).queue_depth(3);
  const GraphSnapshot snapshot = graph.snapshot();
  CHECK(flows(snapshot) == std::vector<std::string>{"fan/pair/first.0 -> fan/pair/second.0",
                                                    "source.0 -> fan/a.0",
                                                    "source.0 -> fan/pair/first.0"});
  for (const auto& flow : snapshot.flows) {
    if (snapshot.vertices[flow.source.vertex.value].path != "source") continue;
    CHECK(flow.options.queue_depth == 3U);
    CHECK(flow.options.queue_policy == QueuePolicy::kDropOldest);
  }
}

TEST_CASE("aliases lead through 64 levels, and a 65th is refused") {
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto nest = graph.embed<Nest>("n", kMaximumGraphNesting);
  graph.add_flow(source->out, nest->in);
  const GraphSnapshot snapshot = graph.snapshot();
  std::string deepest;
  for (std::uint32_t level = 0; level < kMaximumGraphNesting; ++level) deepest += "n/";
  deepest += "relay";
  CHECK(flows(snapshot) == std::vector<std::string>{"source.0 -> " + deepest + ".0"});
  CHECK(snapshot.instances.size() == 64);

  const auto refused = [&] { graph.embed<Nest>("deep", kMaximumGraphNesting + 1); };
  CHECK(thrown_token(refused) == "GRAPH_NESTING_TOO_DEEP");
  CHECK(thrown_token([&] { graph.embed<Endless>("endless"); }) == "GRAPH_NESTING_TOO_DEEP");
  CHECK(thrown_token([&] { graph.embed<Eager>("eager", 64U); }) == "GRAPH_NESTING_TOO_DEEP");
  CHECK(thrown_token([&] { graph.embed<Eager>("eager", 63U); }).empty());
}

TEST_CASE("an embed that fails leaves the graph as it was") {
  Graph graph{"demo"};
  const auto broken = [](Body& body) {
    body.op<Source>("source");
    throw std::logic_error("broken");
  };
  CHECK_THROWS_AS(graph.embed<Body>("part", broken), std::logic_error);
  CHECK(graph.snapshot().vertices.empty());
  CHECK(graph.snapshot().instances.empty());
  graph.embed<Pair>("part");
  CHECK(graph.snapshot().vertices.size() == 2);
}

TEST_CASE("names are shared by operators and embedded graphs") {
  Graph graph{"demo"};
  graph.op<Source>("part");
  CHECK(thrown_token([&] { graph.embed<Pair>("part"); }) == "GRAPH_NAME_DUPLICATE");
  graph.embed<Pair>("pair");
  CHECK(thrown_token([&] { graph.op<Source>("pair"); }) == "GRAPH_NAME_DUPLICATE");
  CHECK(thrown_token([&] { graph.embed<Pair>("a/b"); }) == "GRAPH_NAME_INVALID");
  CHECK(thrown_token([&] { graph.embed<Pair>(""); }) == "GRAPH_NAME_INVALID");
  const auto takes_its_own_name = [&](Body&) { graph.op<Source>("body"); };
  CHECK(thrown_token([&] { graph.embed<Body>("body", takes_its_own_name); }) ==
        "GRAPH_NAME_DUPLICATE");
}

TEST_CASE("a graph is closed once it is embedded") {
  Graph graph{"demo"};
  const auto pair = graph.embed<Pair>("pair");
  const auto closed = [&](auto call) { return thrown_token(call) == "GRAPH_CLOSED"; };
  CHECK(closed([&] { pair->op<Source>("late"); }));
  CHECK(closed([&] { pair->embed<Pair>("late"); }));
  CHECK(closed([&] { pair->add_flow((*pair->first)->out, (*pair->first)->in); }));
  CHECK(closed([&] { pair->partition("late"); }));
  CHECK(closed([&] { pair->region("late"); }));
  CHECK(closed([&] { pair->export_output("late", (*pair->first)->out); }));
  CHECK(closed([&] { pair->lifecycle_after(*pair->first, *pair->first); }));
  const auto body = graph.embed<Body>("body", [](Body& inner) { inner.op<Source>("a"); });
  CHECK(closed([&] { body->run_again(); }));
  CHECK(graph.snapshot().vertices.size() == 3);
}

TEST_CASE("exported ports are refused where they make no sense, and nothing changes") {
  Graph other{"other"};
  const auto stranger = other.op<Relay>("relay");
  const auto foreign = other.embed<Pair>("pair");
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  const auto pair = graph.embed<Pair>("pair");

  CHECK(thrown_token([&] { graph.add_flow(source->out, foreign->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(thrown_token([&] { graph.add_flow(source->out, (*pair->first)->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(thrown_token([&] { graph.add_flow(source->out, GraphInput<std::uint32_t>()); }) ==
        "GRAPH_EXPORT_UNBOUND");
  graph.add_flow(source->out, pair->in);
  CHECK(thrown_token([&] { graph.add_flow(source->out, pair->in); }) == "GRAPH_FLOW_DUPLICATE");
  CHECK(thrown_token([&] { graph.add_flow(pair->out, pair->in, {.queue_depth = 0}); }) ==
        "GRAPH_QUEUE_DEPTH_ZERO");

  const auto refused = [&](const Body::Compose& compose) {
    return thrown_token([&] { graph.embed<Body>("body", compose); });
  };
  CHECK(refused([&](Body& body) { body.export_input("x", stranger->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(refused([&](Body& body) { body.export_input("x", pair->in); }) ==
        "GRAPH_FLOW_HANDLE_INVALID");
  CHECK(refused([&](Body& body) {
          const auto relay = body.op<Relay>("relay");
          body.export_input("x", relay->in);
          body.export_input("y", relay->in);
        }) == "GRAPH_EXPORT_DUPLICATE");
  CHECK(refused([&](Body& body) {
          const auto relay = body.op<Relay>("relay");
          body.export_input("x", relay->in, relay->in);
        }) == "GRAPH_EXPORT_DUPLICATE");
  CHECK(refused([&](Body& body) {
          body.export_input("x", body.op<Relay>("a")->in);
          body.export_input("x", body.op<Relay>("b")->in);
        }) == "GRAPH_EXPORT_DUPLICATE");
  CHECK(refused([&](Body& body) {
          const auto inner = body.embed<Pair>("inner");
          body.export_output("x", inner->out);
          body.export_output("y", inner->out);
        }) == "GRAPH_EXPORT_DUPLICATE");
  CHECK(refused([&](Body& body) { body.export_input("no/slash", body.op<Relay>("a")->in); }) ==
        "GRAPH_NAME_INVALID");
  CHECK(graph.snapshot().vertices.size() == 3);
  CHECK(graph.snapshot().flows.size() == 2);
}

TEST_CASE("an input and an output may be exported by one name") {
  Graph graph{"demo"};
  graph.embed<Body>("body", [](Body& body) {
    const auto relay = body.op<Relay>("relay");
    body.export_input("data", relay->in);
    body.export_output("data", relay->out);
  });
  CHECK(graph.snapshot().instances[0].inputs[0].name == "data");
  CHECK(graph.snapshot().instances[0].outputs[0].name == "data");
}

TEST_CASE("clocks and rules for all operators belong to the outermost graph") {
  Graph graph{"demo"};
  const auto refused = [&](const Body::Compose& compose) {
    return thrown_token([&] { graph.embed<Body>("body", compose); });
  };
  CHECK(refused([](Body& body) { body.add_clock<RealtimeClock>("clk"); }) == "GRAPH_NOT_OUTERMOST");
  CHECK(refused([](Body& body) { body.partition("p").include_all(); }) == "GRAPH_NOT_OUTERMOST");
  CHECK(refused([](Body& body) { body.require_exact_partitions(); }) == "GRAPH_NOT_OUTERMOST");
  const auto pair = graph.embed<Pair>("pair");
  CHECK(thrown_token([&] { static_cast<void>(pair->snapshot()); }) == "GRAPH_NOT_OUTERMOST");
  class Clocked final : public Graph {
   public:
    explicit Clocked(std::string name) : Graph(std::move(name)) { add_clock<RealtimeClock>("clk"); }
  };
  CHECK(thrown_token([&] { graph.embed<Clocked>("clocked"); }) == "GRAPH_NOT_OUTERMOST");
}

TEST_CASE("topics of embedded graphs are topics of the snapshot") {
  Graph graph{"demo"};
  graph.embed<Body>("body", [](Body& body) {
    const auto pair = body.embed<Pair>("pair");
    const auto source = body.op<Source>("source");
    body.add_flow(source->out, pair->in);
    body.add_flow(pair->out, body.export_topic<std::uint32_t>("weftline://t").input());
  });
  const GraphSnapshot snapshot = graph.snapshot();
  REQUIRE(snapshot.exports.size() == 1);
  REQUIRE(snapshot.exports[0].sources.size() == 1);
  CHECK(snapshot.vertices[snapshot.exports[0].sources[0].vertex.value].path == "body/pair/second");
}

TEST_CASE("factories of embedded operators are replayed, parameters set from outside count") {
  Graph graph{"demo"};
  graph.embed<Pair>("pair");
  const GraphSnapshot snapshot = graph.snapshot();
  for (const auto& vertex : snapshot.vertices) CHECK(vertex.factory() != nullptr);
}

TEST_CASE("handles of embedded graphs die with the graph around them") {
  std::optional<EmbeddedGraph<Pair>> pair;
  std::optional<OperatorHandle<Relay>> first;
  std::optional<GraphInput<std::uint32_t>> in;
  {
    Graph graph{"demo"};
    pair.emplace(graph.embed<Pair>("pair"));
    first = (*pair)->first;
    in = (*pair)->in;
  }
  CHECK(thrown_token([&] { static_cast<void>((*pair)->name()); }) == "GRAPH_HANDLE_STALE");
  CHECK(thrown_token([&] { static_cast<void>(first->path()); }) == "GRAPH_HANDLE_STALE");
  Graph graph{"demo"};
  const auto source = graph.op<Source>("source");
  CHECK(thrown_token([&] { graph.add_flow(source->out, *in); }) == "GRAPH_HANDLE_STALE");
  CHECK(graph.snapshot().flows.empty());
}
