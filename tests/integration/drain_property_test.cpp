// SPDX-License-Identifier: Apache-2.0
//
// The end of a stream comes after everything that was emitted before it, whatever the graph, its
// queues and its lanes. Random acyclic graphs of finite sources; a seed says all.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <deque>
#include <random>

#include "test_operators.hpp"

using namespace test;
using weftline::OperatorHandle;
using weftline::QueuePolicy;
using weftline::RunTermination;

namespace {

/// What passed one operator; written on its lane, read after the run.
struct Passed {
  std::vector<std::vector<std::uint64_t>> received{};  ///< Sequence numbers, by input.
  std::uint64_t emitted{0};
};
using Log = std::shared_ptr<Passed>;

/// Emits `count` values, several a tick, then closes.
class BurstSource final : public Operator<> {
 public:
  BurstSource(Log log, std::uint64_t count, std::uint32_t burst)
      : log_(std::move(log)), count_(count), burst_(burst) {}
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    for (std::uint32_t sample = 0; sample < burst_; ++sample) {
      if (log_->emitted == count_) return out.close();
      auto emitted = out.emit(log_->emitted);
      if (!emitted && weftline::is_retryable(emitted.error().code)) return {};
      if (!emitted) return emitted;
      ++log_->emitted;
    }
    return {};
  }

 private:
  const Log log_;
  const std::uint64_t count_;
  const std::uint32_t burst_;
};

/// Any input; one value out for each activation. What it gets is numbered by whoever sent it.
class Relay final : public Operator<> {
 public:
  Relay(Log log, std::size_t inputs) : in(inputs), log_(std::move(log)) {
    log_->received.resize(inputs);
  }
  std::deque<Input<std::uint64_t>> in;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    for (std::size_t port = 0; port < in.size(); ++port) {
      spec.input(in[port], "in" + std::to_string(port));
    }
    spec.output(out, "out");
  }
  expected<void, Error> compute(ExecutionContext&) override {
    for (std::size_t port = 0; port < in.size(); ++port) {
      if (in[port].is_missing()) continue;
      WEFTLINE_ASSIGN(const auto sample, in[port].receive());
      log_->received[port].push_back(sample.metadata.sequence);
    }
    WEFTLINE_TRY(out.emit(log_->emitted));
    ++log_->emitted;
    return {};
  }

 private:
  const Log log_;
};

struct Node {
  std::optional<OperatorHandle<BurstSource>> source{};
  std::optional<OperatorHandle<Relay>> relay{};
  Log log{std::make_shared<Passed>()};
  std::string path{};
  std::vector<std::size_t> feeders{};

  [[nodiscard]] Output<std::uint64_t>& out() const {
    return source ? (*source)->out : (*relay)->out;
  }
};

struct RandomGraph {
  explicit RandomGraph(std::uint32_t seed) : random(seed) {
    const std::size_t count = 3 + below(10);
    for (std::size_t number = 0; number < count; ++number) add(number);
    place();
  }

  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); }

  void add(std::size_t number) {
    Node node;
    node.path = "n" + std::to_string(number);
    if (number == 0 || below(4) == 0) {
      node.source = graph.op<BurstSource>(node.path, node.log, below(120), 1 + below(4));
      graph.configure((*node.source)->out).max_emits_per_compute(4);
    } else {
      const std::size_t inputs = 1 + below(3);
      node.relay = graph.op<Relay>(node.path, node.log, inputs);
      for (std::size_t port = 0; port < inputs; ++port) {
        node.feeders.push_back(below(number));
        weftline::ConnectionOptions options{.queue_depth = 4 + below(6)};
        if (below(4) == 0) options.queue_policy = QueuePolicy::kDropOldest;
        graph.add_flow(nodes[node.feeders.back()].out(), (*node.relay)->in[port], options);
      }
    }
    nodes.push_back(std::move(node));
  }
  void place() {
    const std::uint32_t mode = below(3);
    if (mode == 0) return;  // lanes as the planner has them
    if (mode == 1) {
      graph.partition("all").include_all();
      return;
    }
    const std::uint32_t lanes = 1 + below(4);
    for (const Node& node : nodes) {
      auto lane = graph.partition("lane" + std::to_string(below(lanes)));
      if (node.source) {
        lane.add(*node.source);
      } else {
        lane.add(*node.relay);
      }
    }
  }

  std::mt19937 random;
  weftline::Graph graph{"random"};
  std::vector<Node> nodes{};
};

void check_edge(const Node& from, const std::vector<std::uint64_t>& received, QueuePolicy policy,
                std::uint64_t dropped) {
  const std::uint64_t emitted = from.log->emitted;
  if (policy == QueuePolicy::kBlocking) {
    REQUIRE(received == counting(emitted));
    return;
  }
  // In order, the newest last: what is missing was dropped, and counted.
  for (std::size_t index = 1; index < received.size(); ++index) {
    REQUIRE(received[index - 1] < received[index]);
  }
  REQUIRE(received.size() + dropped == emitted);
  if (emitted > 0) REQUIRE(received.back() == emitted - 1);
}

}  // namespace

TEST_CASE("every sample that was emitted before the end of a stream is received before it") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 41)));
  CAPTURE(seed);
  RandomGraph random(seed);
  const auto plan = compiled(random.graph);
  const auto session = weftline::run_async(plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const auto counters = session.counters();
  for (const auto& operation : counters.operators) REQUIRE(operation.finished);
  for (const auto& edge : plan.payload_edges()) {
    const auto node_at = [&](weftline::VertexId vertex) -> const Node& {
      return *std::ranges::find(random.nodes, plan.operators()[vertex.value].path, &Node::path);
    };
    const auto& received = node_at(edge.target.vertex).log->received[edge.target.port];
    check_edge(node_at(edge.source.vertex), received, edge.queue_policy,
               counters.edges[edge.edge.value].dropped);
  }
}
