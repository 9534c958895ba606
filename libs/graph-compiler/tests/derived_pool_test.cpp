// SPDX-License-Identifier: Apache-2.0
//
// Derived pools from a graph composed in C++ to their bytes.

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <string>

#include "test_derivations.hpp"
#include "test_graph.hpp"
#include "weftline/compile/compile.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {
namespace {

constexpr std::uint64_t kMiB = 1'048'576;

constexpr TensorOutputSpec kImagePool{.representation = {.dtype = kUInt8, .rank = 3},
                                      .storage = TensorOutputStorage::kRuntimePool};

struct Camera final : Operator<ResizeParams> {
  Output<Tensor> frames;
  void setup(OperatorSpec& spec) override {
    spec.output(frames, "frames")
        .produces_tensor(
            kImagePool,
            {.byte_span = parameter_contiguous_byte_span(param_ref<&ResizeParams::shape>()),
             .memory_kind = parameter_memory_kind(
                 param_ref<&ResizeParams::storage>(),
                 {memory_kind_case(Storage::kHost, MemoryKind::kHost),
                  memory_kind_case(Storage::kPinned, MemoryKind::kPinnedHost),
                  memory_kind_case(Storage::kDevice, MemoryKind::kCudaDevice)})})
        .lifecycle_nominal_rate(Rate::hz(60))
        .max_nominal_rate(Rate::hz(120));
  }
  Contract contract() const override {
    return Contract().trigger(OnClock{.period = std::chrono::milliseconds(16)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

struct History final : Operator<> {
  Input<Tensor> frames;
  void setup(OperatorSpec& spec) override { spec.input(frames, "frames").retains(4); }
  Contract contract() const override {
    return Contract().trigger(OnEach{frames}).accumulates(frames, Horizon::seconds(1, 15));
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

struct Gray final : Operator<> {
  Input<Tensor> rgba;
  Output<Tensor> gray;
  Output<Tensor> padded;
  void setup(OperatorSpec& spec) override {
    TensorOutputSpec pool = kImagePool;
    pool.representation.memory_kind = MemoryKind::kHost;
    spec.input(rgba, "rgba");
    spec.output(gray, "gray")
        .produces_tensor(pool, input_max_byte_span(rgba).ceiling_divided_by(tensor_byte_span(4)));
    spec.output(padded, "padded").produces_tensor(pool, input_max_byte_span(rgba).aligned_to(kMiB));
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

struct Sink final : Operator<> {
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

TEST_CASE("6 MiB slots from a parameter, 14 of them at 60 Hz and 22 at 120 Hz") {
  Graph graph("camera");
  auto camera = graph.op<Camera>("camera");
  camera.set_params({.shape = {1'024, 2'048, 3}});
  graph.add_flow(camera->frames, graph.op<History>("history")->frames);
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  const ExecutionPlan plan = compile(graph);
  INFO(format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  CHECK(plan.tensor_byte_span_derivations()[0].resolved_bytes == 6 * kMiB);
  const auto& pool = plan.tensor_allocations()[0];
  CHECK(pool.memory_kind == MemoryKind::kHost);
  CHECK(pool.slot_bytes == 6 * kMiB);
  CHECK(pool.active_slot_count == 8 + 4 + 1 + 1);
  CHECK(pool.slot_count == 16 + 4 + 1 + 1);
  const auto& provider = plan.provider_allocation_plans()[0];
  CHECK(provider.active_bytes() == 84 * kMiB);
  CHECK(provider.admitted_bytes() == 132 * kMiB);
  CHECK(render_plan(plan.records())
            .find("slot bytes of camera.frames = packed(shape: 6291456) = 6291456") !=
        std::string::npos);
}

TEST_CASE("packed RGBA to gray, and a conservative bound beside it") {
  Graph graph("gray");
  auto camera = graph.op<Camera>("camera");
  camera.set_params({.shape = {480, 641, 4}});
  auto gray = graph.op<Gray>("gray");
  graph.add_flow(camera->frames, gray->rgba);
  graph.add_flow(gray->gray, graph.op<Sink>("a")->in);
  graph.add_flow(gray->padded, graph.op<Sink>("b")->in);
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  const ExecutionPlan plan = compile(graph);
  INFO(format_diagnostics(plan.diagnostics()));
  REQUIRE(plan.ok());
  REQUIRE(plan.tensor_byte_span_derivations().size() == 3);
  CHECK(plan.tensor_byte_span_derivations()[0].resolved_bytes == 480 * 641 * 4);
  CHECK(plan.tensor_byte_span_derivations()[1].resolved_bytes == 480 * 641);
  CHECK(plan.tensor_byte_span_derivations()[2].resolved_bytes == 2 * kMiB);
  CHECK(plan.tensor_byte_span_derivations()[2].update ==
        TensorByteSpanDerivationUpdateDisposition::kRecompileRequired);
}

TEST_CASE("another shape is another plan, and needs no other program") {
  const auto compiled = [](ResizeParams values) {
    Graph graph("resize");
    auto camera = graph.op<Camera>("camera");
    camera.set_params(std::move(values));
    graph.add_flow(camera->frames, graph.op<Sink>("sink")->in);
    graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
    return compile(graph);
  };
  const ExecutionPlan small = compiled({.shape = {4, 4, 3}});
  const ExecutionPlan large = compiled({.shape = {8, 4, 3}});
  CHECK(small.tensor_allocations()[0].slot_bytes == 256);
  CHECK(small.tensor_byte_span_derivations()[0].resolved_bytes == 48);
  CHECK(large.tensor_byte_span_derivations()[0].resolved_bytes == 96);
  CHECK(small.digest() != large.digest());
  CHECK_FALSE(compiled({.shape = {4, 4}}).ok());
}

}  // namespace
}  // namespace weftline
