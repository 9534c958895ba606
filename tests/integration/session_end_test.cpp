// SPDX-License-Identifier: Apache-2.0
//
// How runs end: stopped while they wait for a peer, with handles kept, with a subscriber watching.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>

#include "channel_folder.hpp"
#include "test_operators.hpp"
#include "weftline/channel/channel_runtime.hpp"

using namespace test;
using weftline::MemoryKind;
using weftline::PeerRequirement;
using weftline::RunTermination;

namespace {

weftline::ExecutionPlan exporting(std::uint64_t count, std::chrono::nanoseconds wait) {
  weftline::Graph graph{"exporting"};
  use_realtime_clock(graph);
  const auto source = graph.op<CountingSource>("source", count);
  weftline::TopicOptions options;
  options.endpoint_name = "numbers";
  options.attach = {.peer = PeerRequirement::kRequired, .wait = wait};
  graph.add_flow(source->out,
                 graph.export_topic<std::uint64_t>("weftline://numbers", options).input());
  auto plan = weftline::compile(graph);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  return plan;
}

/// Says when it runs, and when its run stops.
class NotesStop final : public Operator<> {
 public:
  NotesStop(std::shared_ptr<std::atomic<bool>> runs, std::shared_ptr<std::atomic<bool>> stopped)
      : runs_(std::move(runs)), stopped_(std::move(stopped)) {}
  void setup(OperatorSpec&) override {}
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override {
    *runs_ = true;
    return {};
  }
  void stop(weftline::LifecycleContext&) override { *stopped_ = true; }

 private:
  const std::shared_ptr<std::atomic<bool>> runs_;
  const std::shared_ptr<std::atomic<bool>> stopped_;
};

}  // namespace

TEST_CASE("a session that is dropped while it runs has stopped its operators") {
  const auto runs = std::make_shared<std::atomic<bool>>(false);
  const auto stopped = std::make_shared<std::atomic<bool>>(false);
  {
    weftline::Graph graph{"dropped"};
    use_realtime_clock(graph);
    graph.op<NotesStop>("endless", runs, stopped);
    const auto session = weftline::run_async(weftline::compile(graph));
    REQUIRE(eventually(session, [&] { return runs->load(); }));
    CHECK(session.termination() == RunTermination::kRunning);
  }
  CHECK(*stopped);
}

TEST_CASE("a run that waits for a required peer can be stopped, and has not failed then") {
  const ChannelFolder folder;
  auto session = weftline::run_async(exporting(1, kWatchdog * 10), {.channels = folder.options()});
  session.request_stop();
  CHECK(run_to_end(session) == RunTermination::kStopped);
  CHECK(session.diagnostics().empty());
}

TEST_CASE("the longest wait for a peer is a wait, not a deadline in the past") {
  const ChannelFolder folder;
  const auto plan = exporting(1, std::chrono::hours(24 * 365));
  auto runtime = weftline::ChannelRuntime::create(folder.options());
  REQUIRE(runtime);
  const auto session = weftline::run_async(plan, {.channels = folder.options()});
  CHECK(session.termination() == RunTermination::kRunning);
  auto subscriber = runtime->create_subscriber<std::uint64_t>(plan.endpoint_catalog(), "numbers");
  REQUIRE(subscriber);
  REQUIRE(subscriber->wait_and_receive_sample(std::chrono::steady_clock::now() + kWatchdog));
  CHECK(run_to_end(session) == RunTermination::kCompleted);
}

TEST_CASE("a stopped run never means end of stream to a subscriber") {
  const ChannelFolder folder;
  const auto plan = exporting(0, kWatchdog);
  auto runtime = weftline::ChannelRuntime::create(folder.options());
  REQUIRE(runtime);
  auto subscriber = runtime->create_subscriber<std::uint64_t>(plan.endpoint_catalog(), "numbers");
  REQUIRE(subscriber);
  {
    auto session = weftline::run_async(plan, {.channels = folder.options()});
    REQUIRE(subscriber->wait_and_receive_sample(std::chrono::steady_clock::now() + kWatchdog));
    session.request_stop();
    REQUIRE(run_to_end(session) == RunTermination::kStopped);
  }
  // The rest of what was queued, and then a publisher that has gone: it may come again.
  for (;;) {
    const auto sample = subscriber->receive_sample();
    if (sample) continue;
    CHECK(sample.error().code == weftline::ErrorCode::kNotReady);
    break;
  }
}

namespace {

constexpr std::array<std::int64_t, 1> kShape{16};
constexpr DLDataType kByte{kDLUInt, 8, 1};

/// One device tensor, then the end.
class OneTensor final : public Operator<> {
 public:
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out")
        .produces_tensor(
            {.representation = {.memory_kind = MemoryKind::kCudaDevice, .dtype = kByte, .rank = 1},
             .bounds = weftline::tensor_bounds(16),
             .storage = weftline::TensorOutputStorage::kRuntimePool});
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kShape, .dtype = kByte}));
    WEFTLINE_TRY(loan.write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t bytes) {
      return context.cuda_stream().device()->fill(context.cuda_stream(), data, std::byte{7}, bytes);
    }));
    WEFTLINE_TRY(out.emit(std::move(loan)));
    return out.close();
  }
};

/// Hands its tensor to the test.
class KeepsTensor final : public Operator<> {
 public:
  explicit KeepsTensor(std::shared_ptr<Tensor> kept) : kept_(std::move(kept)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(auto sample, in.receive());
    *kept_ = std::move(sample.data);
    return {};
  }

 private:
  const std::shared_ptr<Tensor> kept_;
};

}  // namespace

TEST_CASE("a tensor kept beyond its session is whole, and dropping it waits for nothing for ever") {
  const auto kept = std::make_shared<Tensor>();
  {
    weftline::Graph graph{"kept"};
    use_realtime_clock(graph);
    const auto source = graph.op<OneTensor>("source");
    const auto keeper = graph.op<KeepsTensor>("keeper", kept);
    graph.add_flow(source->out, keeper->in);
    weftline::CompileOptions options;
    options.devices = weftline::capture_device_catalog();
    options.deployment.bind_tensor_output_device(
        {.operator_path = "source",
         .output_port = "out",
         .device = weftline::DeviceId{weftline::DeviceKind::kEmulated, 0}});
    const auto plan = weftline::compile(graph, options);
    INFO(weftline::format_diagnostics(plan.diagnostics()));
    REQUIRE(plan.ok());
    REQUIRE(run_to_end(weftline::run_async(plan)) == RunTermination::kCompleted);
  }
  REQUIRE(*kept);
  std::array<std::uint8_t, 16> bytes{};
  // Emulated device memory is host memory, and the session has waited for its streams.
  std::memcpy(bytes.data(), kept->data(), bytes.size());
  CHECK(std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 7; }));
  *kept = {};
}
