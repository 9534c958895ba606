// SPDX-License-Identifier: Apache-2.0
// A program of its own: it replaces operator new.
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <thread>

#include "test_operators.hpp"
#include "weftline/testing/counted_new.hpp"

using namespace test;
using weftline::MemoryKind;

namespace {

constexpr DLDataType kByte{kDLUInt, 8, 1};
constexpr std::array<std::int64_t, 1> kShape{4'096};

weftline::TensorOutputSpec pooled(MemoryKind kind) {
  return {.representation = {.memory_kind = kind, .dtype = kByte, .rank = 1},
          .bounds = weftline::tensor_bounds(4'096),
          .storage = weftline::TensorOutputStorage::kRuntimePool};
}

/// Emits tensors for ever, written in the order of its stream, or on the host without one.
class Producer final : public Operator<> {
 public:
  explicit Producer(MemoryKind kind) : kind_(kind) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out").produces_tensor(pooled(kind_));
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    auto loan = out.allocate_tensor({.shape = kShape, .dtype = kByte});
    if (!loan) return {};  // none free: an exhausted pool is part of the path under test
    WEFTLINE_TRY(loan->write_and_commit(context.cuda_stream(), [&](void* data,
                                                                   std::uint64_t bytes) {
      return weftline::launch(
          context.cuda_stream(), {}, {}, [=] { static_cast<std::uint8_t*>(data)[bytes - 1] = 1; },
          [](CUstream_st*) { return expected<void, Error>{}; });
    }));
    const auto emitted = out.emit(std::move(*loan), {.frame_id = next_++});
    return emitted || weftline::is_retryable(emitted.error().code) ? expected<void, Error>{}
                                                                   : emitted;
  }

 private:
  const MemoryKind kind_;
  std::uint64_t next_{0};
};

class Counting final : public Operator<> {
 public:
  explicit Counting(std::shared_ptr<std::atomic<std::uint64_t>> count) : count_(std::move(count)) {}
  Input<Tensor> in;
  Output<std::uint64_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    count_->fetch_add(1, std::memory_order_relaxed);
    return out.emit(sample.metadata.frame_id.value_or(0));
  }

 private:
  const std::shared_ptr<std::atomic<std::uint64_t>> count_;
};

class Discard final : public Operator<> {
 public:
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    static_cast<void>(sample);
    return {};
  }
};

}  // namespace

TEST_CASE("a running graph allocates nothing on the heap, host or device, queues full or not") {
  const bool emulated = GENERATE(false, true);
  const weftline::ObserveOptions observe =
      GENERATE(weftline::ObserveOptions{},
               weftline::ObserveOptions{.latencies = true, .trace_events = 256, .nvtx = true});
  const MemoryKind kind = emulated ? MemoryKind::kCudaDevice : MemoryKind::kHost;
  weftline::Graph graph{"steady"};
  use_realtime_clock(graph);
  const auto count = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto producer = graph.op<Producer>("producer", kind);
  const auto counter = graph.op<Counting>("counter", count);
  const auto lossy = graph.op<Counting>("lossy", count);
  const auto sink = graph.op<Discard>("sink");
  const auto second_sink = graph.op<Discard>("second-sink");
  graph.add_flow(producer->out, counter->in, {.queue_depth = 2});
  graph.add_flow(producer->out, lossy->in,
                 {.queue_depth = 1, .queue_policy = weftline::QueuePolicy::kDropOldest});
  graph.add_flow(counter->out, sink->in, {.queue_depth = 1});
  graph.add_flow(lossy->out, second_sink->in, {.queue_depth = 3});
  graph.partition("sinks").add(sink).add(second_sink);
  weftline::CompileOptions options;
  if (emulated) {
    options.devices = weftline::capture_device_catalog();
    options.deployment.bind_tensor_output_device({.operator_path = "producer",
                                                  .output_port = "out",
                                                  .device = {weftline::DeviceKind::kEmulated, 0}});
  }
  const auto plan = weftline::compile(graph, options);
  plan.require_no_errors();
  auto session = weftline::run_async(plan, {.observe = observe});

  const auto wait_for = [&](std::uint64_t target) {
    const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
    while (count->load(std::memory_order_relaxed) < target) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  };
  REQUIRE(wait_for(200));
  const std::uint64_t allocated = weftline::testing::allocations_of_all_threads();
  const bool arrived = wait_for(5'000);
  CHECK(weftline::testing::allocations_of_all_threads() == allocated);
  CHECK(arrived);
  session.request_stop();
  CHECK(run_to_end(session) == weftline::RunTermination::kStopped);
}
