// SPDX-License-Identifier: Apache-2.0
// Twenty operators in four lanes at 10 kHz: one source, six arms of three, and a sink that takes a
// sample of each arm at a time. The queues drop the oldest, so that a lane that falls behind shows.
// Lanes poll where each has a CPU: a CPU that sleeps 10,000 times a second is late by itself.
#include <memory>
#include <thread>

#include "bench_graph.hpp"

namespace weftline::bench {
namespace {

constexpr std::uint32_t kArms = 6;
constexpr std::uint32_t kStages = 3;
constexpr std::chrono::microseconds kPeriod{100};
constexpr std::array<const char*, 4> kLanes{"source", "arms-0", "arms-1", "sink"};

class Join final : public Operator<> {
 public:
  explicit Join(std::shared_ptr<std::vector<double>> ages) : ages_(std::move(ages)) {}
  std::array<Input<std::int32_t>, kArms> in;
  void setup(OperatorSpec& spec) override {
    for (std::uint32_t arm = 0; arm < kArms; ++arm)
      spec.input(in[arm], "in-" + std::to_string(arm));
  }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnAligned{{in.begin(), in.end()}, std::chrono::nanoseconds(0)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    for (auto& input : in) {
      WEFTLINE_ASSIGN(const auto sample, input.receive());
      if (&input != &in.front() || ages_->size() == ages_->capacity()) continue;
      const auto captured = sample.metadata.capture.value_or(TimePoint{});
      ages_->push_back(
          static_cast<double>(context.clock().now().timestamp_ns - captured.timestamp_ns) / 1e3);
    }
    return {};
  }

 private:
  const std::shared_ptr<std::vector<double>> ages_;
};

/// The floor: ticks that a bare thread misses at that period, which does nothing but look at the
/// clock on the source's CPU.
std::uint64_t ticks_missed_by_a_bare_loop(std::uint64_t frames, bool placed) {
  std::uint64_t missed = 0;
  std::thread loop([&] {
    if (placed) settle_on_cpu(0);
    std::int64_t next = now_ns();
    for (std::uint64_t frame = 0; frame < frames; ++frame) {
      next += std::chrono::nanoseconds(kPeriod).count();
      std::int64_t now = now_ns();
      while (now < next) now = now_ns();
      const std::int64_t late = (now - next) / std::chrono::nanoseconds(kPeriod).count();
      missed += static_cast<std::uint64_t>(late);
      frame += static_cast<std::uint64_t>(late);
      next += late * std::chrono::nanoseconds(kPeriod).count();
    }
  });
  loop.join();
  return missed;
}

}  // namespace

std::vector<BenchRow> measure_diamond(bool quick) {
  const std::chrono::seconds length{quick ? 3 : 60};
  const std::uint64_t frames = static_cast<std::uint64_t>(length / kPeriod);
  const ConnectionOptions edge{.queue_depth = 8, .queue_policy = QueuePolicy::kDropOldest};
  const auto ages = std::make_shared<std::vector<double>>();
  ages->reserve(frames);

  Graph graph{"diamond"};
  const auto source = graph.op<Ticker>("source", kPeriod, frames);
  const auto sink = graph.op<Join>("sink", ages);
  graph.partition(kLanes[0]).add(source);
  graph.partition(kLanes[3]).add(sink);
  for (std::uint32_t arm = 0; arm < kArms; ++arm) {
    const Output<std::int32_t>* end = &source->out;
    for (std::uint32_t stage = 0; stage < kStages; ++stage) {
      const auto relay =
          graph.op<Relay>("arm-" + std::to_string(arm) + "-" + std::to_string(stage));
      graph.partition(kLanes[1 + arm % 2]).add(relay);
      graph.add_flow(*end, relay->in, edge);
      end = &relay->out;
    }
    graph.add_flow(*end, sink->in[arm], edge);
  }
  CompileOptions options;
  const bool placed = usable_cpus().size() >= kLanes.size();
  const WakeMode mode = placed ? WakeMode::kBusyPoll : WakeMode::kPark;
  for (std::uint32_t lane = 0; lane < kLanes.size(); ++lane) {
    place(options, kLanes[lane], mode, lane, kLanes.size());
  }
  const RunSession session = run_async(compiled(graph, options));
  must_complete(session);

  const std::uint64_t floor = ticks_missed_by_a_bare_loop(frames, placed);
  const RunCounters counters = session.counters();
  std::uint64_t dropped = 0;
  std::uint64_t coalesced = 0;
  std::uint32_t deepest = 0;
  for (const EdgeCounters& each : counters.edges) {
    dropped += each.dropped;
    deepest = std::max(deepest, each.depth_high_water);
  }
  for (const OperatorCounters& each : counters.operators) {
    coalesced += each.coalesced_ticks;
    dropped += each.unaligned_drops;
  }
  const std::string note = std::to_string(frames) + " frames in " + std::to_string(length.count()) +
                           " s, depth 8, drop-oldest; deepest queue " + std::to_string(deepest) +
                           "; age at the sink per sample: " + text_of(percentiles_of(*ages), "us") +
                           "; floor: ticks missed by a bare loop that polls the clock; " +
                           (placed ? "polling " : "parking ") + placement_note(kLanes.size());
  return {{.name = "plan-runtime: 20 operators in 4 lanes at 10 kHz, drops",
           .unit = "samples",
           .value = static_cast<double>(dropped),
           .target = "0",
           .note = note},
          {.name = "plan-runtime: 20 operators in 4 lanes at 10 kHz, coalesced ticks",
           .unit = "ticks",
           .value = static_cast<double>(coalesced),
           .floor = static_cast<double>(floor),
           .target = "0",
           .note = note}};
}

}  // namespace weftline::bench
