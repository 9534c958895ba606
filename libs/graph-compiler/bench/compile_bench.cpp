// SPDX-License-Identifier: Apache-2.0
// How long compile() takes and how much memory it needs at its peak, for graphs of 1,000 and of
// 10,000 operators. Takes `--weftline-json FILE [--quick]`; see ci/bench.
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "weftline/compile/compile.hpp"
#include "weftline/testing/bench_main.hpp"

namespace {

// One thread allocates: plain counters do.
std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

void* counted(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += malloc_usable_size(memory);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return memory;
}

void discounted(void* memory) noexcept {
  if (memory != nullptr) live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { discounted(memory); }
void operator delete(void* memory, std::size_t) noexcept { discounted(memory); }

namespace weftline {
namespace {

constexpr DeviceId kDevice{DeviceKind::kEmulated, 0};
constexpr std::int64_t kFrameBytes = 6'220'800;

TensorOutputSpec pool() {
  return {.representation = {.memory_kind = MemoryKind::kCudaDevice,
                             .dtype = DLDataType{kDLUInt, 8, 1},
                             .rank = 3},
          .bounds = tensor_bounds(kFrameBytes),
          .storage = TensorOutputStorage::kRuntimePool};
}

class Camera : public Operator<> {
 public:
  Output<Tensor> frames;
  void setup(OperatorSpec& spec) override {
    spec.output(frames, "frames").produces_tensor(pool()).nominal_rate(Rate::hz(60));
  }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnClock{std::chrono::milliseconds(16)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

class Filter : public Operator<> {
 public:
  Input<Tensor> frames;
  Output<Tensor> filtered;
  void setup(OperatorSpec& spec) override {
    spec.input(frames, "frames").expects_tensor({{.memory_kind = MemoryKind::kCudaDevice}});
    spec.output(filtered, "filtered").produces_tensor(pool()).follows(frames);
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{frames}); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

class Merge : public Operator<> {
 public:
  Input<Tensor> left;
  Input<Tensor> right;
  Output<Tensor> merged;
  void setup(OperatorSpec& spec) override {
    spec.input(left, "left");
    spec.input(right, "right");
    spec.output(merged, "merged").produces_tensor(pool()).follows(left);
  }
  [[nodiscard]] Contract contract() const override {
    return Contract().trigger(OnAligned{{left, right}, std::chrono::milliseconds(5)});
  }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

class Recorder : public Operator<> {
 public:
  Input<Tensor> frames;
  void setup(OperatorSpec& spec) override { spec.input(frames, "frames"); }
  expected<void, Error> compute(ExecutionContext&) override { return {}; }
};

/// Cameras, each with two legs of filters that meet again and a recorder: ten operators each, all
/// on one device, every tensor output with a pool.
struct Farm {
  explicit Farm(std::uint32_t operators) {
    options.devices.devices = {{.id = kDevice}};
    for (std::uint32_t index = 0; index < operators / 10; ++index)
      add_camera(std::to_string(index));
    graph.set_default_clock(graph.add_clock<RealtimeClock>("clock"));
  }

  void add_camera(const std::string& number) {
    const auto bound = [&](auto handle, const char* port) {
      options.deployment.bind_tensor_output_device({handle.path(), port, kDevice});
      return handle;
    };
    const auto camera = bound(graph.op<Camera>("camera-" + number), "frames");
    const auto merge = bound(graph.op<Merge>("merge-" + number), "merged");
    for (const char* const leg : {"left", "right"}) {
      const Output<Tensor>* end = &camera->frames;
      for (std::uint32_t stage = 0; stage < 3; ++stage) {
        const auto filter = bound(
            graph.op<Filter>(std::string(leg) + std::to_string(stage) + "-" + number), "filtered");
        graph.add_flow(*end, filter->frames);
        end = &filter->filtered;
      }
      graph.add_flow(*end, leg == std::string("left") ? merge->left : merge->right);
    }
    const auto recorder = graph.op<Recorder>("recorder-" + number);
    graph.add_flow(merge->merged, recorder->frames);
    const auto preview = graph.op<Recorder>("preview-" + number);
    graph.add_flow(camera->frames, preview->frames);
  }

  Graph graph{"farm"};
  CompileOptions options{};
};

struct Cost {
  double milliseconds{0};
  double kilobytes_per_operator{0};
  double authoring_milliseconds{0};
};

/// Of this thread: what else the machine does is not the compiler's.
double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Cost measure(std::uint32_t operators, std::uint32_t rounds) {
  const double authoring = cpu_milliseconds();
  const Farm farm(operators);
  Cost cost;
  cost.authoring_milliseconds = cpu_milliseconds() - authoring;
  std::vector<double> times;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::size_t before = live_bytes;
    peak_bytes = live_bytes;
    const double start = cpu_milliseconds();
    const ExecutionPlan plan = compile(farm.graph, farm.options);
    times.push_back(cpu_milliseconds() - start);
    if (!plan.ok()) throw std::runtime_error(format_diagnostics(plan.diagnostics()));
    cost.kilobytes_per_operator = static_cast<double>(peak_bytes - before) / 1e3 / operators;
  }
  cost.milliseconds = testing::median(times);
  return cost;
}

std::vector<testing::BenchRow> measure_all(bool quick) {
  const std::uint32_t rounds = quick ? 3 : 11;
  (void)measure(1'000, 1);  // warms the allocator and the caches
  const Cost small = measure(1'000, rounds);
  const Cost large = measure(10'000, quick ? 1 : 3);
  const auto row = [](std::string name, std::string unit, double value, std::string target,
                      std::string note) {
    return testing::BenchRow{.name = "graph-compiler: " + std::move(name),
                             .unit = std::move(unit),
                             .value = value,
                             .target = std::move(target),
                             .note = std::move(note)};
  };
  std::vector<testing::BenchRow> rows;
  rows.push_back(row("compile 1,000 operators", "ms", small.milliseconds, "<= 50 ms",
                     "CPU time of the thread, median"));
  rows.push_back(
      row("compile 10,000 operators", "ms", large.milliseconds, "<= 1000 ms", "CPU time, median"));
  testing::BenchRow growth = row("time per operator at 10,000", "us", large.milliseconds / 10,
                                 "<= 1.5x of that at 1,000", "floor: at 1,000, same run");
  growth.floor = small.milliseconds;
  rows.push_back(std::move(growth));
  rows.push_back(row("peak memory at 1,000", "kB/operator", small.kilobytes_per_operator,
                     "<= 20 kB", "heap beyond the graph's own"));
  rows.push_back(row("peak memory at 10,000", "kB/operator", large.kilobytes_per_operator,
                     "<= 20 kB", "heap beyond the graph's own"));
  rows.push_back(row("author 10,000 operators", "ms", large.authoring_milliseconds, "<= 1000 ms",
                     "op(), add_flow(), bindings"));
  return rows;
}

}  // namespace
}  // namespace weftline

int main(int argc, char** argv) {
  return weftline::testing::bench_main(argc, argv, weftline::measure_all);
}
