// SPDX-License-Identifier: Apache-2.0
//
// What a run does with the border of its process and with its deployment: it has it as the plan
// says, or it is refused before anything is made.
#include <catch2/catch_test_macros.hpp>
#include <filesystem>

#include "channel_folder.hpp"
#include "test_operators.hpp"

using namespace test;
using weftline::CompileOptions;
using weftline::DeviceId;
using weftline::DeviceKind;
using weftline::MemoryKind;
using weftline::RunTermination;

namespace {

constexpr DeviceId kDevice{DeviceKind::kEmulated, 0};

/// Closes a tensor output at its first tick.
class ClosesTensors final : public Operator<> {
 public:
  explicit ClosesTensors(MemoryKind kind) : kind_(kind) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.output(out, "out")
        .produces_tensor({.representation = {.memory_kind = kind_,
                                             .dtype = DLDataType{kDLUInt, 8, 1},
                                             .rank = 1},
                          .bounds = weftline::tensor_bounds(64),
                          .storage = weftline::TensorOutputStorage::kRuntimePool});
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::microseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return out.close(); }

 private:
  const MemoryKind kind_;
};

class TakesTensors final : public Operator<> {
 public:
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

class TakesNumbers final : public Operator<> {
 public:
  Input<std::uint64_t> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

weftline::ExecutionPlan compiled(const weftline::Graph& graph, const CompileOptions& options = {}) {
  auto plan = weftline::compile(graph, options);
  INFO(weftline::format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  return plan;
}

/// The token that a run is refused with; nothing of it may be in the channels' folder.
std::string refusal(const weftline::ExecutionPlan& plan) {
  const ChannelFolder folder;
  const auto directory = folder.options().directory;
  const auto session = weftline::run_async(plan, {.channels = folder.options()});
  CHECK(session.termination() == RunTermination::kFailed);
  CHECK(std::filesystem::is_empty(directory));
  REQUIRE(session.diagnostics().size() == 1);
  return std::string(session.diagnostics()[0].error.token);
}

TEST_CASE("a plan with an import is refused by name, before anything is made") {
  weftline::Graph graph{"importing"};
  use_realtime_clock(graph);
  const auto sink = graph.op<TakesNumbers>("sink");
  graph.add_flow(graph.import_topic<std::uint64_t>("weftline://in").output(), sink->in);
  CHECK(refusal(compiled(graph)) == "RUN_IMPORT_UNSUPPORTED");
}

TEST_CASE("a plan that exports tensors is refused by name, before anything is made") {
  weftline::Graph graph{"exporting"};
  use_realtime_clock(graph);
  const auto source = graph.op<ClosesTensors>("source", MemoryKind::kHost);
  graph.add_flow(source->out, graph.export_topic<Tensor>("weftline://out").input());
  CHECK(refusal(compiled(graph)) == "RUN_TENSOR_ENDPOINT_UNSUPPORTED");
}

TEST_CASE("a plan that asks for what is not checked of a capture clock is refused by name") {
  weftline::Graph graph{"exporting"};
  use_realtime_clock(graph);
  const auto source = graph.op<CountingSource>("source", 1);
  weftline::TopicOptions options;
  options.capture_time = weftline::RequireCaptureTime::kYes;
  graph.add_flow(source->out,
                 graph.export_topic<std::uint64_t>("weftline://numbers", options).input());
  CHECK(refusal(compiled(graph)) == "RUN_CAPTURE_CLOCK_UNSUPPORTED");
}

TEST_CASE("SMs that a plan sets apart are set apart in the run, or it is refused") {
  weftline::Graph graph{"divided"};
  use_realtime_clock(graph);
  const auto source = graph.op<ClosesTensors>("source", MemoryKind::kCudaDevice);
  const auto sink = graph.op<TakesTensors>("sink");
  graph.add_flow(source->out, sink->in);
  graph.partition("fast").add(source);
  weftline::DeviceOptions devices;
  devices.emulated.sm_count = 10;
  devices.emulated.sm_granularity = 2;
  CompileOptions options;
  options.devices = weftline::capture_device_catalog(devices);
  options.deployment
      .bind_tensor_output_device(
          {.operator_path = "source", .output_port = "out", .device = kDevice})
      .bind_green_context({.partition = "fast", .device = kDevice, .sm_count = 4});
  const auto plan = compiled(graph, options);
  CHECK(plan.green_context_resources().size() == 2);
  auto session = weftline::run_async(plan, {.devices = devices});
  CHECK(run_to_end(session) == RunTermination::kCompleted);

  devices.emulated.sm_granularity = 3;
  const auto other = weftline::run_async(plan, {.devices = devices});
  REQUIRE(other.diagnostics().size() == 1);
  CHECK(other.diagnostics()[0].error.token == "RUN_GREEN_CONTEXT_SIZE");

  devices.emulated.sm_granularity = 0;
  const auto undivided = weftline::run_async(plan, {.devices = devices});
  CHECK(undivided.termination() == RunTermination::kFailed);
}

}  // namespace
