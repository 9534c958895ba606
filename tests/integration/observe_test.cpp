// SPDX-License-Identifier: Apache-2.0
//
// What a run shows of itself while it runs: latencies of operators, edges and paths, a trace, and
// who has a pool's slots.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "test_operators.hpp"
#include "weftline/core/json.hpp"
#include "weftline/runtime/run_counters_text.hpp"

using namespace test;
using weftline::JsonValue;
using weftline::MemoryKind;
using weftline::RunTermination;
using weftline::SlotPlace;
using weftline::TraceEvent;
using weftline::TraceEventKind;

namespace {

constexpr std::uint64_t kSamples = 40;

weftline::VertexId vertex_of(const weftline::ExecutionPlan& plan, std::string_view path) {
  for (const auto& operation : plan.operators()) {
    if (operation.path == path) return operation.id;
  }
  throw std::runtime_error("no such operator");
}

const weftline::LatencySummary& path_of(const weftline::ExecutionPlan& plan,
                                        const weftline::RunCounters& counters,
                                        std::string_view source, std::string_view sink) {
  for (const auto& path : counters.paths) {
    if (path.source == vertex_of(plan, source) && path.sink == vertex_of(plan, sink)) {
      return path.latency;
    }
  }
  throw std::runtime_error("no such path");
}

/// Passes a number on after it has worked for a while.
class Working final : public Operator<> {
 public:
  explicit Working(std::chrono::nanoseconds work) : work_(work) {}
  Input<std::uint64_t> in;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    const auto until = std::chrono::steady_clock::now() + work_;
    while (std::chrono::steady_clock::now() < until) {
    }
    return out.emit(sample.data, {.capture_time = sample.metadata.capture});
  }

 private:
  const std::chrono::nanoseconds work_;
};

/// Takes one sample of each input.
class Joining final : public Operator<> {
 public:
  Input<std::uint64_t> left;
  Input<std::uint64_t> right;
  void setup(OperatorSpec& spec) override {
    spec.input(left, "left");
    spec.input(right, "right");
  }
  Contract contract() const override {
    return Contract().trigger(weftline::OnAligned{{left, right}});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

weftline::TensorOutputSpec bytes() {
  return {.representation = {.memory_kind = MemoryKind::kHost,
                             .dtype = DLDataType{kDLUInt, 8, 1},
                             .rank = 1},
          .bounds = weftline::tensor_bounds(64),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// Emits tensors while there are slots.
class Frames final : public Operator<> {
 public:
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").produces_tensor(bytes()); }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::milliseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    static constexpr std::array<std::int64_t, 1> kShape{64};
    auto loan = out.allocate_tensor({.shape = kShape, .dtype = {kDLUInt, 8, 1}});
    if (!loan) return {};
    WEFTLINE_TRY(loan->write_host_and_commit([](void*, std::uint64_t) {}));
    auto emitted = out.emit(std::move(*loan));
    return emitted || weftline::is_retryable(emitted.error().code) ? expected<void, Error>{}
                                                                   : emitted;
  }
};

/// Keeps the first tensor for ever.
class Hoarding final : public Operator<> {
 public:
  explicit Hoarding(std::shared_ptr<std::atomic<bool>> has) : has_(std::move(has)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(auto sample, in.receive());
    if (!kept_) kept_ = std::move(sample.data);
    has_->store(true);
    return {};
  }

 private:
  const std::shared_ptr<std::atomic<bool>> has_;
  Tensor kept_{};
};

/// camera → work → sink, with the sink on a lane of its own.
struct Chain {
  std::shared_ptr<Collected<std::uint64_t>> values{std::make_shared<Collected<std::uint64_t>>()};
  weftline::ExecutionPlan plan;
};

constexpr std::chrono::microseconds kWork{300};

Chain chain() {
  auto values = std::make_shared<Collected<std::uint64_t>>();
  weftline::Graph graph{"chain"};
  const auto source = graph.op<CountingSource>("camera", kSamples);
  const auto work = graph.op<Working>("work", std::chrono::nanoseconds(kWork));
  const auto sink = graph.op<Collector>("sink", values);
  graph.add_flow(source->out, work->in);
  graph.add_flow(work->out, sink->in);
  graph.partition("front").add(source).add(work);
  graph.partition("back").add(sink);
  return {std::move(values), compiled(graph)};
}

}  // namespace

TEST_CASE("each edge and path counts every sample, and knows the work on its way") {
  const Chain run = chain();
  const auto session = weftline::run_async(run.plan, {.observe = {.latencies = true}});
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const auto counters = session.counters();
  const std::int64_t work_ns = std::chrono::nanoseconds(kWork).count();
  REQUIRE(counters.edges.size() == 2);
  for (const auto& edge : counters.edges) {
    REQUIRE(edge.latency.has_value());
    CHECK(edge.latency->count == kSamples);
    CHECK(edge.latency->min_ns > 0);
    CHECK(edge.latency->p50_ns <= edge.latency->p99_ns);
    CHECK(edge.latency->p99_ns <= edge.latency->max_ns);
  }
  const auto& work = counters.operators[vertex_of(run.plan, "work").value];
  CHECK(work.compute->count == kSamples);
  CHECK(work.compute->min_ns >= work_ns);
  REQUIRE(counters.paths.size() == 1);
  const auto& path = path_of(run.plan, counters, "camera", "sink");
  CHECK(path.count == kSamples);
  CHECK(path.min_ns >= work_ns);
}

TEST_CASE("a join's path is that of the older of its samples") {
  weftline::Graph graph{"join"};
  const auto slow = graph.op<CountingSource>("slow", kSamples);
  const auto fast = graph.op<CountingSource>("fast", kSamples);
  const auto work = graph.op<Working>("work", std::chrono::nanoseconds(kWork));
  const auto join = graph.op<Joining>("join");
  graph.add_flow(slow->out, work->in);
  graph.add_flow(work->out, join->left);
  graph.add_flow(fast->out, join->right);
  const auto plan = compiled(graph);
  const auto session = weftline::run_async(plan, {.observe = {.latencies = true}});
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const auto counters = session.counters();
  const auto& from_slow = path_of(plan, counters, "slow", "join");
  const auto& from_fast = path_of(plan, counters, "fast", "join");
  CHECK(from_slow.count + from_fast.count ==
        counters.operators[vertex_of(plan, "join").value].activations);
  // Whichever it was, it was there before the slow one's work was over.
  if (from_slow.count > 0) CHECK(from_slow.min_ns >= std::chrono::nanoseconds(kWork).count());
}

TEST_CASE("a run that nobody observes has neither latencies nor a trace") {
  const Chain run = chain();
  const auto session = weftline::run_async(run.plan);
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const auto counters = session.counters();
  CHECK(counters.paths.empty());
  CHECK_FALSE(counters.operators[0].compute.has_value());
  CHECK_FALSE(counters.edges[0].latency.has_value());
  CHECK(session.trace().lanes.empty());
}

TEST_CASE("a trace has each activation with what it received and emitted inside") {
  const Chain run = chain();
  const auto session = weftline::run_async(run.plan, {.observe = {.trace_events = 1'024}});
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const weftline::RunTrace trace = session.trace();
  REQUIRE(trace.lanes.size() == 2);
  std::map<std::uint32_t, std::uint64_t> activations;
  std::uint64_t emits = 0;
  std::uint64_t receives = 0;
  for (const auto& lane : trace.lanes) {
    std::int64_t last_end = 0;
    std::vector<TraceEvent> inside;
    for (const TraceEvent& event : lane.events) {
      CHECK(event.begin_ns <= event.end_ns);
      emits += event.kind == TraceEventKind::kEmit ? 1 : 0;
      receives += event.kind == TraceEventKind::kReceive ? 1 : 0;
      if (event.kind == TraceEventKind::kEmit || event.kind == TraceEventKind::kReceive) {
        inside.push_back(event);
      } else if (event.kind == TraceEventKind::kActivation) {
        ++activations[event.vertex.value];
        CHECK(event.begin_ns >= last_end);  // one after the other
        for (const TraceEvent& moment : inside) {
          CHECK(moment.vertex == event.vertex);
          CHECK(moment.begin_ns >= event.begin_ns);
          CHECK(moment.end_ns <= event.end_ns);
        }
        inside.clear();
        last_end = event.end_ns;
      }
    }
    CHECK(inside.empty());
  }
  std::uint64_t overwritten = 0;
  for (const auto& lane : trace.lanes) overwritten += lane.overwritten;
  if (overwritten == 0) {
    CHECK(activations[vertex_of(run.plan, "work").value] == kSamples);
    CHECK(activations[vertex_of(run.plan, "sink").value] == kSamples);
    CHECK(emits == 2 * kSamples);
    CHECK(receives == 2 * kSamples);
  }
}

TEST_CASE("a trace is written as JSON that can be read") {
  const Chain run = chain();
  const auto session = weftline::run_async(run.plan, {.observe = {.trace_events = 4'096}});
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  const auto file = std::filesystem::temp_directory_path() /
                    ("weftline-trace-" + std::to_string(::getpid()) + ".json");
  REQUIRE(session.write_trace(file).has_value());
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::filesystem::remove(file);
  const auto parsed = weftline::parse_json(text, {.decimals = true});
  REQUIRE(parsed.has_value());
  std::map<std::string, std::uint64_t> arrows;
  for (const JsonValue& event : *parsed->find("traceEvents")->as_array()) {
    const std::string& phase = *event.find("ph")->as_string();
    if (phase == "s") ++arrows[*event.find("id")->as_string()];
    if (phase == "f") --arrows[*event.find("id")->as_string()];
  }
  CHECK(arrows.size() == 2 * kSamples);
  CHECK(std::ranges::all_of(arrows, [](const auto& arrow) { return arrow.second == 0; }));
  CHECK_FALSE(session.write_trace("/nowhere/at/all.json").has_value());
}

TEST_CASE("NVTX ranges are made, or the session says that this build makes none") {
  const Chain run = chain();
  const auto session = weftline::run_async(run.plan, {.observe = {.nvtx = true}});
  REQUIRE(run_to_end(session) == RunTermination::kCompleted);
  CHECK(run.values->values().size() == kSamples);
  for (const auto& warning : session.warnings()) {
    CHECK(warning.error.token == "RUN_NVTX_UNAVAILABLE");
  }
}

TEST_CASE("a slot that an operator keeps is seen with it while the run goes on") {
  weftline::Graph graph{"hoard"};
  const auto has = std::make_shared<std::atomic<bool>>(false);
  const auto frames = graph.op<Frames>("frames");
  const auto hoard = graph.op<Hoarding>("hoard", has);
  graph.add_flow(frames->out, hoard->in, {.queue_depth = 2});
  const auto plan = compiled(graph);
  auto session = weftline::run_async(plan);
  REQUIRE(eventually(session, [&] { return has->load(); }));
  const auto kept = [&](const weftline::RunCounters& counters) {
    REQUIRE(counters.pools.size() == 1);
    for (const auto& slot : counters.pools[0].held) {
      for (const auto& holder : slot.holders) {
        if (slot.slot == 0 && slot.handles == 1 && holder.place == SlotPlace::kConsumer &&
            holder.name == "hoard") {
          return holder.since_ns;
        }
      }
    }
    return std::int64_t{0};
  };
  std::int64_t since = 0;
  REQUIRE(eventually(session, [&] { return (since = kept(session.counters())) != 0; }));
  for_a_while([&] { CHECK(kept(session.counters()) == since); });
  const auto counters = session.counters();
  CHECK(counters.read_at.timestamp_ns > since);
  const std::string text = weftline::render_run_counters(plan.records(), counters);
  CHECK(text.find("consumer hoard, ") != std::string::npos);
  CHECK(weftline::parse_json(weftline::run_counters_json(plan.records(), counters)).has_value());
  session.request_stop();
  REQUIRE(run_to_end(session) == RunTermination::kStopped);
  CHECK(session.counters().pools[0].held.empty());
}
