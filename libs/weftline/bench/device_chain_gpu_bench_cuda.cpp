// SPDX-License-Identifier: Apache-2.0
// A chain of four operators on a GPU, a kernel each, in one lane (fused: no fences) and in four
// (fenced), against the same kernels launched by hand with raw CUDA calls. Takes
// `--weftline-json FILE [--quick]`; see ci/bench. Without a CUDA device it has no rows.
#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_chain_kernels.hpp"
#include "weftline/compile/compile.hpp"
#include "weftline/cuda/launch.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/runtime/run_session.hpp"
#include "weftline/testing/bench_main.hpp"

namespace weftline::bench {
namespace {

using testing::BenchRow;
using testing::median;
using SteadyClock = std::chrono::steady_clock;

constexpr std::uint32_t kStages = 4;
constexpr std::uint32_t kKernelNs = 50'000;
constexpr std::uint32_t kDepth = 16;
constexpr DeviceId kDevice{DeviceKind::kCuda, 0};
constexpr DLDataType kU32{kDLUInt, 32, 1};
constexpr std::array<std::int64_t, 1> kShape{64};
constexpr std::uint64_t kBytes = 256;

template <class T>
T must(expected<T, Error> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void must(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// From the first launch to the end of the last kernel.
struct Span {
  SteadyClock::time_point begin{};
  SteadyClock::time_point end{};
  [[nodiscard]] double microseconds_per(std::uint32_t frames) const {
    return std::chrono::duration<double, std::micro>(end - begin).count() / frames;
  }
};

expected<void, Error> link(StreamRef stream, const void* from, void* to) {
  const MemoryAccess read{from, from != nullptr ? kBytes : 0};
  const MemoryAccess write{to, to != nullptr ? kBytes : 0};
  return launch(
      stream, {&read, 1}, {&write, 1}, [] {},
      [from, to](CUstream_st* raw) -> expected<void, Error> {
        launch_link(raw, from, to, kKernelNs);
        return {};
      });
}

TensorOutputSpec pool() {
  return {.representation = {.memory_kind = MemoryKind::kCudaDevice, .dtype = kU32, .rank = 1},
          .bounds = tensor_bounds(kBytes),
          .storage = TensorOutputStorage::kRuntimePool};
}

class Source final : public Operator<> {
 public:
  Source(std::uint32_t frames, std::shared_ptr<Span> span)
      : frames_(frames), span_(std::move(span)) {}
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out").produces_tensor(pool()); }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::nanoseconds(1)});
  }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (made_ == frames_) return out.close();
    if (made_ == 0) span_->begin = SteadyClock::now();
    auto loan = out.allocate_tensor({.shape = kShape, .dtype = kU32});
    if (!loan) {
      const bool none_free = loan.error().code == ErrorCode::kResourceExhausted;
      return none_free ? expected<void, Error>{} : forward_error(std::move(loan));
    }
    WEFTLINE_TRY(loan->write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t) {
      return link(context.cuda_stream(), nullptr, data);
    }));
    auto emitted = out.emit(std::move(*loan));
    if (emitted) ++made_;
    return emitted || is_retryable(emitted.error().code) ? expected<void, Error>{} : emitted;
  }

 private:
  const std::uint32_t frames_;
  const std::shared_ptr<Span> span_;
  std::uint32_t made_{0};
};

class Middle final : public Operator<> {
 public:
  Input<Tensor> in;
  Output<Tensor> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out").produces_tensor(pool());
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = kShape, .dtype = kU32}));
    WEFTLINE_TRY(loan.write_and_commit(context.cuda_stream(), [&](void* data, std::uint64_t) {
      return link(context.cuda_stream(), sample.data.data(), data);
    }));
    return out.emit(std::move(loan));
  }
};

class Sink final : public Operator<> {
 public:
  Sink(std::uint32_t frames, std::shared_ptr<Span> span) : left_(frames), span_(std::move(span)) {}
  Input<Tensor> in;
  void setup(OperatorSpec& spec) override { spec.input(in, "in"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    WEFTLINE_TRY(link(context.cuda_stream(), sample.data.data(), nullptr));
    if (--left_ > 0) return {};
    WEFTLINE_TRY(context.cuda_stream().device()->synchronize(context.cuda_stream()));
    span_->end = SteadyClock::now();
    return {};
  }

 private:
  std::uint32_t left_;
  const std::shared_ptr<Span> span_;
};

double chain_frame_time(bool fused, std::uint32_t frames) {
  Graph graph{"device-chain"};
  graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  const auto span = std::make_shared<Span>();
  const auto source = graph.op<Source>("source", frames, span);
  const auto first = graph.op<Middle>("first");
  const auto second = graph.op<Middle>("second");
  const auto sink = graph.op<Sink>("sink", frames, span);
  const ConnectionOptions edge{.queue_depth = kDepth};
  graph.add_flow(source->out, first->in, edge);
  graph.add_flow(first->out, second->in, edge);
  graph.add_flow(second->out, sink->in, edge);
  if (fused) {
    graph.partition("lane").include_all();
  } else {
    graph.partition("lane-0").add(source);
    graph.partition("lane-1").add(first);
    graph.partition("lane-2").add(second);
    graph.partition("lane-3").add(sink);
  }
  CompileOptions options;
  options.devices = capture_device_catalog();
  for (const char* const path : {"source", "first", "second"}) {
    options.deployment.bind_tensor_output_device(
        {.operator_path = path, .output_port = "out", .device = kDevice});
  }
  const ExecutionPlan plan = compile(graph, options);
  if (!plan.ok()) throw std::runtime_error(format_diagnostics(plan.diagnostics()));
  for (const auto& decision : plan.records().fusion_decisions) {
    if (decision.fused != fused) throw std::runtime_error("not as wanted: " + decision.reason);
  }
  const RunSession session = run_async(plan);
  session.wait();
  if (session.termination() != RunTermination::kCompleted) {
    const auto diagnostics = session.diagnostics();
    throw std::runtime_error(diagnostics.empty() ? "stopped" : diagnostics[0].to_string());
  }
  return span->microseconds_per(frames);
}

/// By hand: a stream for each stage and two events for each slot, or one stream and none.
class RawChain {
 public:
  RawChain(const std::shared_ptr<Device>& device, bool fused)
      : device_(device),
        fused_(fused),
        memory_(must(device->allocate(MemoryKind::kCudaDevice, (kStages - 1) * kDepth * kBytes))) {
    for (std::uint32_t stage = 0; stage < (fused ? 1 : kStages); ++stage) {
      streams_.push_back(must(device->create_stream({})));
    }
    for (auto& ring : slots_) {
      for (Slot& slot : ring) {
        must(cudaEventCreateWithFlags(&slot.ready, cudaEventDisableTiming));
        must(cudaEventCreateWithFlags(&slot.released, cudaEventDisableTiming));
      }
    }
  }
  RawChain(const RawChain&) = delete;
  RawChain& operator=(const RawChain&) = delete;
  ~RawChain() {
    for (auto& ring : slots_) {
      for (const Slot& slot : ring) {
        cudaEventDestroy(slot.ready);
        cudaEventDestroy(slot.released);
      }
    }
  }

  double frame_time(std::uint32_t frames) {
    Span span{SteadyClock::now(), {}};
    for (std::uint32_t frame = 0; frame < frames; ++frame) one_frame(frame % kDepth);
    must(device_->synchronize(stream(kStages - 1)));
    span.end = SteadyClock::now();
    return span.microseconds_per(frames);
  }

 private:
  struct Slot {
    cudaEvent_t ready{};
    cudaEvent_t released{};
  };
  [[nodiscard]] StreamRef stream(std::uint32_t stage) const {
    return streams_[fused_ ? 0 : stage].ref();
  }
  void one_frame(std::uint32_t slot) {
    for (std::uint32_t stage = 0; stage < kStages; ++stage) {
      CUstream_st* const on = stream(stage).get();
      const bool reads = stage > 0;
      const bool writes = stage + 1 < kStages;
      void* const from = reads ? memory_.data() + ((stage - 1) * kDepth + slot) * kBytes : nullptr;
      void* const to = writes ? memory_.data() + (stage * kDepth + slot) * kBytes : nullptr;
      if (!fused_ && reads) must(cudaStreamWaitEvent(on, slots_[stage - 1][slot].ready));
      if (!fused_ && writes) must(cudaStreamWaitEvent(on, slots_[stage][slot].released));
      launch_link(on, from, to, kKernelNs);
      if (!fused_ && writes) must(cudaEventRecord(slots_[stage][slot].ready, on));
      if (!fused_ && reads) must(cudaEventRecord(slots_[stage - 1][slot].released, on));
    }
  }

  const std::shared_ptr<Device> device_;
  const bool fused_;
  const MemoryBlock memory_;
  std::vector<Stream> streams_{};
  std::array<std::array<Slot, kDepth>, kStages - 1> slots_{};
};

std::vector<BenchRow> measure(bool quick) {
  auto opened = open_device(kDevice);
  if (!opened) {
    std::fprintf(stderr, "no rows: %s\n", opened.error().to_string().c_str());
    return {};
  }
  const std::shared_ptr<Device> device = *opened;
  must(device->make_current());
  const void* const kernel = link_kernel();
  must(device->preload({&kernel, 1}));
  const std::uint32_t frames = quick ? 500 : 2000;
  const int repetitions = quick ? 3 : 11;
  std::vector<BenchRow> rows;
  for (const bool fused : {true, false}) {
    RawChain raw(device, fused);
    std::vector<double> by_hand;
    std::vector<double> by_graph;
    // In turn, so that a drift of the machine's speed meets both; the first to warm up.
    for (int repetition = 0; repetition <= repetitions; ++repetition) {
      const double hand = raw.frame_time(frames);
      const double graph = chain_frame_time(fused, frames);
      if (repetition == 0) continue;
      by_hand.push_back(hand);
      by_graph.push_back(graph);
    }
    rows.push_back({.name = std::string("plan-runtime: 4-operator device chain, ") +
                            (fused ? "fused" : "fenced"),
                    .unit = "us",
                    .value = median(by_graph),
                    .floor = median(by_hand),
                    .target = "ratio <= 1.05",
                    .note = device->description().name + "; batch time of " +
                            std::to_string(frames) + " frames / frames, kernels of 50 us, " +
                            (fused ? "one lane, one stream" : "four lanes, four streams") +
                            ", lanes not placed; medians of " + std::to_string(repetitions) +
                            " in turn; floor: the same by hand, with raw CUDA calls"});
  }
  return rows;
}

}  // namespace
}  // namespace weftline::bench

int main(int argc, char** argv) {
  return weftline::testing::bench_main(argc, argv, weftline::bench::measure);
}
