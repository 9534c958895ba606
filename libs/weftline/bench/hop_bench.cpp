// SPDX-License-Identifier: Apache-2.0
// From one operator to the next in one lane.
#include <algorithm>
#include <memory>

#include "bench_graph.hpp"
#include "weftline/core/sample.hpp"

namespace weftline::bench {
namespace {

constexpr std::uint32_t kRelays = 10;
/// From source to sink.
constexpr std::uint32_t kHops = kRelays + 1;
/// Frames in one batch, which gives one figure: its time over frames and hops.
constexpr std::uint64_t kBatch = 200;

/// Nanoseconds per hop, of each batch.
using Batches = std::vector<double>;

class BatchClock final : public Operator<> {
 public:
  explicit BatchClock(std::shared_ptr<Batches> batches) : batches_(std::move(batches)) {}
  Input<std::int32_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    if (static_cast<std::uint64_t>(sample.data) % kBatch != 0) return {};
    const std::int64_t now = now_ns();
    if (last_ns_ != 0) {
      batches_->push_back(static_cast<double>(now - last_ns_) / static_cast<double>(kBatch) /
                          kHops);
    }
    last_ns_ = now;
    return {};
  }

 private:
  const std::shared_ptr<Batches> batches_;
  std::int64_t last_ns_{0};
};

Batches chain_batches(std::uint64_t batches, const ObserveOptions& observe = {}) {
  Graph graph{"chain"};
  const auto figures = std::make_shared<Batches>();
  figures->reserve(batches + 1);
  const auto source = graph.op<Ticker>("source", kAlways, kBatch * (batches + 1));
  const Output<std::int32_t>* end = &source->out;
  for (std::uint32_t index = 0; index < kRelays; ++index) {
    const auto relay = graph.op<Relay>("relay-" + std::to_string(index));
    graph.add_flow(*end, relay->in, {.queue_depth = 4});
    end = &relay->out;
  }
  const auto sink = graph.op<BatchClock>("sink", figures);
  graph.add_flow(*end, sink->in, {.queue_depth = 4});
  graph.partition("lane").include_all();
  CompileOptions options;
  place(options, "lane", WakeMode::kSpinThenPark, 0, 1);
  must_complete(run_async(compiled(graph, options), {.observe = observe}));
  return *figures;
}

/// The floor: for each hop a virtual call, which pops a sample with its metadata from one ring and
/// pushes it into the next. What any runtime has to do that calls unknown operators and queues
/// their samples.
class Node {
 public:
  virtual ~Node() = default;
  virtual void call() = 0;
};

class Ring {
 public:
  void push(const Sample<std::int32_t>& sample) noexcept { cells_[tail_++ % kDepth] = sample; }
  [[nodiscard]] const Sample<std::int32_t>& front() const noexcept {
    return cells_[head_ % kDepth];
  }
  void pop() noexcept { ++head_; }

 private:
  static constexpr std::uint64_t kDepth = 4;
  std::array<Sample<std::int32_t>, kDepth> cells_{};
  std::uint64_t head_{0};
  std::uint64_t tail_{0};
};

class RingNode final : public Node {
 public:
  RingNode(Ring& in, Ring& out) noexcept : in_(in), out_(out) {}
  void call() override {
    Sample<std::int32_t> sample = in_.front();
    in_.pop();
    ++sample.data;
    ++sample.metadata.sequence;
    out_.push(sample);
  }

 private:
  Ring& in_;
  Ring& out_;
};

Batches floor_batches(std::uint64_t batches) {
  std::array<Ring, kHops + 1> rings{};
  std::vector<std::unique_ptr<Node>> nodes;
  for (std::uint32_t index = 0; index < kHops; ++index) {
    nodes.push_back(std::make_unique<RingNode>(rings[index], rings[index + 1]));
  }
  Batches figures;
  for (std::uint64_t batch = 0; batch <= batches; ++batch) {
    const std::int64_t start = now_ns();
    for (std::uint64_t frame = 0; frame < kBatch; ++frame) {
      rings.front().push({});
      for (const auto& node : nodes) node->call();
      rings.back().pop();
      asm volatile("" : : "r"(&rings) : "memory");
    }
    if (batch == 0) continue;  // to warm up
    figures.push_back(static_cast<double>(now_ns() - start) / static_cast<double>(kBatch) / kHops);
  }
  return figures;
}

BenchRow observed_hops(const std::string& what, const ObserveOptions& observe,
                       std::uint64_t batches, double unobserved) {
  const Batches hops = chain_batches(batches, observe);
  return {.name = "plan-runtime: operator hop in one lane, " + what,
          .unit = "ns",
          .value = testing::median(hops),
          .floor = unobserved,
          .note = "as the hop, which is the floor here; " + text_of(percentiles_of(hops), "ns") +
                  "; " + placement_note(1)};
}

}  // namespace

std::vector<BenchRow> measure_hops(bool quick) {
  const std::uint64_t batches = quick ? 500 : 5'000;
  Batches hops;
  Batches floor;
  // In turn, so that a drift of the machine's speed meets both.
  for (int repetition = 0; repetition < 4; ++repetition) {
    std::ranges::copy(chain_batches(batches), std::back_inserter(hops));
    std::ranges::copy(floor_batches(batches), std::back_inserter(floor));
  }
  return {
      {.name = "plan-runtime: operator hop in one lane",
       .unit = "ns",
       .value = testing::median(hops),
       .floor = testing::median(floor),
       .target = "<= 100 ns, ratio <= 4",
       .note = "batch time of " + std::to_string(kBatch) + " frames / frames / " +
               std::to_string(kHops) + " hops, source and sink included; median of batches, " +
               text_of(percentiles_of(hops), "ns") + "; least " +
               std::to_string(std::ranges::min(hops)) +
               "; floor: a virtual call, a ring's pop and push of a sample with metadata, least " +
               std::to_string(std::ranges::min(floor)) + "; " + placement_note(1)},
      observed_hops("latencies kept", {.latencies = true}, batches, testing::median(hops)),
      observed_hops("traced", {.trace_events = 4'096}, batches, testing::median(hops))};
}

}  // namespace weftline::bench
