// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weftline/compile/compile.hpp"
#include "weftline/plan/thread_placement.hpp"
#include "weftline/runtime/run_session.hpp"
#include "weftline/testing/bench_main.hpp"

// What the benchmarks of runs share. Each has a source file of its own and one function here.

namespace weftline::bench {

using testing::BenchRow;

std::vector<BenchRow> measure_hops(bool quick);
std::vector<BenchRow> measure_crossings(bool quick);
std::vector<BenchRow> measure_steady_state(bool quick);
std::vector<BenchRow> measure_diamond(bool quick);

/// As short as a period can be: due each time that the lane looks.
inline constexpr std::chrono::nanoseconds kAlways{1};

/// Emits 0, 1, 2, …, each as often as its queue refuses it, and closes after `count` of them; 0:
/// for ever. `capture_time` is the tick.
class Ticker final : public Operator<> {
 public:
  Ticker(std::chrono::nanoseconds period, std::uint64_t count) : period_(period), count_(count) {}
  Output<std::int32_t> out;
  void setup(OperatorSpec& spec) override { spec.output(out, "out"); }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnClock{period_}); }
  expected<void, Error> compute(ExecutionContext& context) override {
    if (count_ != 0 && next_ == count_) return out.close();
    auto emitted =
        out.emit(static_cast<std::int32_t>(next_), {.capture_time = context.activation_time()});
    if (emitted) ++next_;
    return emitted || is_retryable(emitted.error().code) ? expected<void, Error>{} : emitted;
  }

 private:
  const std::chrono::nanoseconds period_;
  const std::uint64_t count_;
  std::uint64_t next_{0};
};

/// out = in + 1, with the capture time of in.
class Relay final : public Operator<> {
 public:
  Input<std::int32_t> in;
  Output<std::int32_t> out;
  void setup(OperatorSpec& spec) override {
    spec.input(in, "in");
    spec.output(out, "out");
  }
  [[nodiscard]] Contract contract() const override { return Contract().trigger(OnEach{in}); }
  expected<void, Error> compute(ExecutionContext&) override {
    WEFTLINE_ASSIGN(const auto sample, in.receive());
    return out.emit(sample.data + 1, {.capture_time = sample.metadata.capture});
  }
};

/// Compiles, with a realtime clock; throws std::runtime_error where that has errors.
ExecutionPlan compiled(Graph& graph, const CompileOptions& options = {});
/// Waits for the end of a run; throws std::runtime_error unless it completed.
void must_complete(const RunSession& session);

/// Asks for one partition's way to wait, and its CPU where this machine has one for each of
/// `lanes`; where that can't be had, the run goes on without.
void place(CompileOptions& options, std::string partition, WakeMode mode, std::uint32_t lane,
           std::uint32_t lanes);

/// The CPUs that this process may run on.
[[nodiscard]] std::vector<std::uint32_t> usable_cpus();
/// Keeps the calling thread on the usable CPU of that number.
void settle_on_cpu(std::uint32_t number);

struct Percentiles {
  double p50{0};
  double p99{0};
  double p999{0};
  double max{0};
};
[[nodiscard]] Percentiles percentiles_of(std::vector<double> values);
/// "p50 …, p99 …, p99.9 …, max … <unit>"
[[nodiscard]] std::string text_of(const Percentiles& percentiles, std::string_view unit);
/// On which CPUs the process may run, and how many lanes want one.
[[nodiscard]] std::string placement_note(std::uint32_t lanes);

/// Nanoseconds on CLOCK_MONOTONIC, as the runtime's own clock reads it.
[[nodiscard]] inline std::int64_t now_ns() noexcept { return RealtimeClock{}.now_ns(); }

}  // namespace weftline::bench
