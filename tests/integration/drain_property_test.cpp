// SPDX-License-Identifier: Apache-2.0
//
// The end of a stream comes after everything that was emitted before it, whatever the graph, its
// queues and its lanes. Random acyclic graphs of finite sources, some of them in graphs of their
// own; a seed says all.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <variant>

#include "test_operators.hpp"

using namespace test;
using weftline::GraphInput;
using weftline::GraphOutput;
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

/// Captured at the number of the sample: operators that go by time go by number.
weftline::EmitOptions numbered(const ExecutionContext& context, const Passed& log) {
  return {.capture_time = context.clock().at_ns(static_cast<std::int64_t>(log.emitted))};
}

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
  expected<void, Error> compute(ExecutionContext& context) override {
    for (std::uint32_t sample = 0; sample < burst_; ++sample) {
      if (log_->emitted == count_) return out.close();
      auto emitted = out.emit(log_->emitted, numbered(context, *log_));
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

/// What makes a relay run.
enum class When : std::uint8_t {
  kAny,      ///< Any of its inputs.
  kAligned,  ///< Samples of one number from all of them.
  kSide,     ///< The first; of the second all that waits, of the third the latest is looked at.
};

/// One value out for each activation. What it gets is numbered by whoever sent it.
class Relay final : public Operator<> {
 public:
  Relay(Log log, std::size_t inputs, When when) : in(inputs), log_(std::move(log)), when_(when) {
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
  Contract contract() const override {
    if (when_ == When::kAny) return {};
    if (when_ == When::kAligned) {
      weftline::OnAligned aligned;
      for (const auto& input : in) aligned.inputs.emplace_back(input);
      return Contract().trigger(std::move(aligned));
    }
    Contract contract;
    contract.trigger(OnEach{in[0]});
    if (in.size() > 1) {
      contract.select(in[1], weftline::DrainAll{.max_samples = 3}, weftline::Absent{});
    }
    if (in.size() > 2) {
      contract.select(in[2], weftline::LatestWithin{.max_age = std::chrono::hours(1)},
                      weftline::SafeDefault{});
    }
    return contract;
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    for (std::size_t port = 0; port < in.size(); ++port) {
      if (in[port].is_missing()) continue;
      if (when_ == When::kSide && port == 1) {
        WEFTLINE_ASSIGN(const auto batch, in[port].receive_batch());
        for (const auto& sample : batch) note(port, sample.metadata);
      } else {
        WEFTLINE_ASSIGN(const auto sample, in[port].receive());
        note(port, sample.metadata);
      }
    }
    WEFTLINE_TRY(out.emit(log_->emitted, numbered(context, *log_)));
    ++log_->emitted;
    return {};
  }

 private:
  void note(std::size_t port, const weftline::SampleMetadata& metadata) {
    log_->received[port].push_back(metadata.sequence);
  }
  const Log log_;
  const When when_;
};

/// A relay and, on the way out, another one, as a graph: what comes in at its first input goes to a
/// third one, too.
class Enclosed final : public weftline::Graph {
 public:
  struct Logs {
    Log inner{std::make_shared<Passed>()};
    Log last{std::make_shared<Passed>()};
    Log beside{std::make_shared<Passed>()};
  };
  Enclosed(std::string name, const Logs& logs, std::size_t inputs, When when)
      : Graph(std::move(name)), logs_(logs), inputs_(inputs), when_(when) {}
  std::vector<GraphInput<std::uint64_t>> in{};
  GraphOutput<std::uint64_t> out;

 protected:
  void compose() override {
    const auto inner = op<Relay>("inner", logs_.inner, inputs_, when_);
    const auto last = op<Relay>("last", logs_.last, 1U, When::kAny);
    const auto beside = op<Relay>("beside", logs_.beside, 1U, When::kAny);
    add_flow(inner->out, last->in[0]);
    in.push_back(export_input("in0", inner->in[0], beside->in[0]));
    for (std::size_t port = 1; port < inputs_; ++port) {
      in.push_back(export_input("in" + std::to_string(port), inner->in[port]));
    }
    out = export_output("out", last->out);
  }

 private:
  const Logs logs_;
  const std::size_t inputs_;
  const When when_;
};

struct RandomGraph {
  explicit RandomGraph(std::uint32_t seed) : random(seed) {
    const std::size_t count = 3 + below(10);
    for (std::size_t number = 0; number < count; ++number) add(number);
    place();
  }

  /// A node of the plan.
  struct Member {
    Log log{};
    When when{When::kAny};
  };
  /// Where flows begin.
  struct End {
    std::variant<const Output<std::uint64_t>*, const GraphOutput<std::uint64_t>*> port;
    std::uint64_t at_most{0};  ///< Samples that can come out of it.
  };

  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); }

  void add(std::size_t number) {
    const std::string name = "n" + std::to_string(number);
    if (number == 0 || below(4) == 0) return add_source(name);
    const std::size_t inputs = 1 + below(3);
    std::vector<End> feeders;
    for (std::size_t port = 0; port < inputs; ++port) feeders.push_back(ends[below(ends.size())]);
    const When when = any_trigger(feeders);
    std::uint64_t at_most = 0;
    for (const End& feeder : feeders) at_most += feeder.at_most;
    if (when == When::kSide) at_most = feeders[0].at_most;

    if (below(3) == 0) {
      const Enclosed::Logs logs;
      const auto enclosed = graph.embed<Enclosed>(name, logs, inputs, when);
      members[name + "/inner"] = {logs.inner, when};
      members[name + "/last"] = {logs.last};
      members[name + "/beside"] = {logs.beside};
      for (std::size_t port = 0; port < inputs; ++port) {
        connect(feeders[port], enclosed->in[port], when, port);
      }
      ends.push_back({&enclosed->out, at_most});
      placeable.emplace_back([enclosed](weftline::PartitionHandle lane) { lane.add(enclosed); });
      return;
    }
    const auto relay = graph.op<Relay>(name, log_of(name, when), inputs, when);
    for (std::size_t port = 0; port < inputs; ++port) {
      connect(feeders[port], relay->in[port], when, port);
    }
    ends.push_back({&relay->out, at_most});
    placeable.emplace_back([relay](weftline::PartitionHandle lane) { lane.add(relay); });
  }

  void add_source(const std::string& name) {
    const std::uint64_t count = below(120);
    const auto source = graph.op<BurstSource>(name, log_of(name, When::kAny), count, 1 + below(4));
    graph.configure(source->out).max_emits_per_compute(4);
    ends.push_back({&source->out, count});
    placeable.emplace_back([source](weftline::PartitionHandle lane) { lane.add(source); });
  }
  Log log_of(const std::string& name, When when) {
    const auto log = std::make_shared<Passed>();
    members[name] = {log, when};
    return log;
  }

  /// Relays that wait for more than one input hold their other queues full meanwhile: only where
  /// all of it fits, so that no graph starves itself.
  When any_trigger(const std::vector<End>& feeders) {
    constexpr std::uint64_t kFits = 4'000;
    const bool fits =
        std::ranges::all_of(feeders, [&](const End& end) { return end.at_most <= kFits; });
    if (!fits || feeders.size() < 2) return When::kAny;
    return static_cast<When>(below(3));
  }
  template <class Target>
  void connect(const End& from, const Target& to, When when, std::size_t port) {
    weftline::ConnectionOptions options{.queue_depth = 4 + below(6)};
    if (when == When::kAligned || (when == When::kSide && port > 0)) {
      options.queue_depth = static_cast<std::uint32_t>(from.at_most) + 5;
    } else if (below(4) == 0) {
      options.queue_policy = QueuePolicy::kDropOldest;
    }
    std::visit([&](const auto* source) { graph.add_flow(*source, to, options); }, from.port);
  }
  void place() {
    const std::uint32_t mode = below(3);
    if (mode == 0) return;  // lanes as the planner has them
    if (mode == 1) {
      graph.partition("all").include_all();
      return;
    }
    const std::uint32_t lanes = 1 + below(4);
    for (const auto& into : placeable) into(graph.partition("lane" + std::to_string(below(lanes))));
  }

  std::mt19937 random;
  weftline::Graph graph{"random"};
  std::map<std::string, Member> members{};  ///< By path.
  std::vector<End> ends{};
  std::vector<std::function<void(weftline::PartitionHandle)>> placeable{};
};

void check_edge(std::uint64_t emitted, const std::vector<std::uint64_t>& received,
                QueuePolicy policy, std::uint64_t dropped) {
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

/// A whole run of one graph, and what each of its operators saw.
class Drained {
 public:
  explicit Drained(std::uint32_t seed)
      : random_(seed), plan_(compiled(random_.graph)), session_(weftline::run_async(plan_)) {
    REQUIRE(run_to_end(session_) == RunTermination::kCompleted);
    counters_ = session_.counters();
    arrived_.resize(counters_.operators.size());
  }

  void check() {
    for (const auto& operation : counters_.operators) REQUIRE(operation.finished);
    for (const auto& edge : plan_.payload_edges()) check(edge);
    for (const auto& operation : counters_.operators) check(operation);
  }

 private:
  const RandomGraph::Member& member_of(weftline::VertexId vertex) const {
    return random_.members.at(std::string(plan_.operators()[vertex.value].path));
  }

  void check(const weftline::PayloadEdgePlanRecord& edge) {
    const auto& target = member_of(edge.target.vertex);
    const auto& received = target.log->received[edge.target.port];
    const std::uint64_t emitted = member_of(edge.source.vertex).log->emitted;
    const std::uint64_t dropped = counters_.edges[edge.edge.value].dropped;
    arrived_[edge.target.vertex.value] += emitted - dropped;
    INFO(plan_.records().input_name(edge.target));
    if (target.when == When::kAny || (target.when == When::kSide && edge.target.port == 0)) {
      check_edge(emitted, received, edge.queue_policy, dropped);
    } else if (target.when == When::kAligned) {
      // All pairs that there were: the end of one input left none of them out.
      REQUIRE(received == counting(target.log->emitted));
      fewest_[edge.target.vertex.value] = std::min(
          emitted,
          fewest_.contains(edge.target.vertex.value) ? fewest_[edge.target.vertex.value] : emitted);
    } else if (edge.target.port == 1) {
      REQUIRE(received == counting(received.size()));
    } else {
      REQUIRE(std::ranges::is_sorted(received));
    }
  }

  /// Nothing is lost without a count, and nothing counts twice.
  void check(const weftline::OperatorCounters& operation) {
    const auto& member = member_of(operation.vertex);
    std::uint64_t received = 0;
    for (const auto& input : member.log->received) {
      received += std::set(input.begin(), input.end()).size();
    }
    INFO(plan_.operators()[operation.vertex.value].path);
    CHECK(received + operation.passed_over + operation.discarded + operation.unaligned_drops ==
          arrived_[operation.vertex.value]);
    if (member.when == When::kAligned) {
      CHECK(member.log->emitted == fewest_.at(operation.vertex.value));
    }
  }

  RandomGraph random_;
  const weftline::ExecutionPlan plan_;
  const weftline::RunSession session_;
  weftline::RunCounters counters_{};
  std::vector<std::uint64_t> arrived_{};             ///< By operator.
  std::map<std::uint32_t, std::uint64_t> fewest_{};  ///< By operator that aligns: of its inputs.
};

}  // namespace

TEST_CASE("every sample that was emitted before the end of a stream is received before it") {
  const auto seed = static_cast<std::uint32_t>(GENERATE(range(1, 81)));
  CAPTURE(seed);
  Drained(seed).check();
}
