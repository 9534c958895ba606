// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weftline/compile/compile.hpp"
#include "weftline/core/clock_driver.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline::testing {

/// How far a test run goes.
struct TestRunOptions {
  /// The clock stops at the time of each sample fed, then goes on to here; earlier than the last
  /// sample is as good as 0.
  std::chrono::nanoseconds until{0};
  /// How far the clock goes at once; 0: from one sample's time to the next. Ticks of OnClock
  /// between two stops fold into one, as on a lane that comes late.
  std::chrono::nanoseconds step{0};
  /// Ends the run, as stopped, after the stop of the clock at which the operator has been activated
  /// so often; 0: no end.
  std::uint64_t activations{0};
  RunOptions run{};
  /// A run that takes longer on the wall's clock hangs: HARNESS_RUN_HANGS.
  std::chrono::seconds patience{60};
};

/// How a test run ended.
struct TestOutcome {
  /// kStopped where the operator goes on for ever (a clock's or a notified one), or the number of
  /// activations was reached.
  RunTermination termination{RunTermination::kRunning};
  std::vector<RunDiagnostic> diagnostics{};
  std::vector<RunDiagnostic> warnings{};
  OperatorCounters counters{};  ///< Of the operator under test.
};

/// The graph around one operator, and its clock. For OperatorTestHarness.
class HarnessGraph {
 public:
  HarnessGraph();
  HarnessGraph(const HarnessGraph&) = delete;
  HarnessGraph& operator=(const HarnessGraph&) = delete;

  [[nodiscard]] Graph& graph() noexcept { return graph_; }
  [[nodiscard]] CompileOptions& options() noexcept { return options_; }
  /// Puts all device memory of the operator's own outputs, and that of `feeder`, on a device.
  void use_device(DeviceId device) { device_ = device; }
  [[nodiscard]] std::optional<DeviceId> device() const noexcept { return device_; }
  void add_feeder_on_device(std::string path) { device_feeders_.push_back(std::move(path)); }
  void add_time(std::chrono::nanoseconds at) { times_.push_back(at.count()); }
  [[nodiscard]] std::string input_name(std::uint32_t port) const;
  [[nodiscard]] std::string output_name(std::uint32_t port) const;

  /// Compiles, runs to the end, and waits for it; once. kInvalidArgument (HARNESS_RAN,
  /// HARNESS_INPUT_NOT_FED, HARNESS_PLAN_REJECTED) names what is missing; kTimeout
  /// (HARNESS_RUN_HANGS) what went on.
  [[nodiscard]] expected<TestOutcome, Error> run(const TestRunOptions& options);

 private:
  [[nodiscard]] expected<ExecutionPlan, Error> compile_all(const TestRunOptions& options);
  void bind_outputs();

  Graph graph_{"harness"};
  CompileOptions options_{};
  std::shared_ptr<ClockDriver> driver_{};
  std::optional<DeviceId> device_{};
  std::vector<std::string> device_feeders_{};
  std::vector<std::int64_t> times_{};
  bool ran_{false};
};

inline constexpr const char* kOperatorUnderTest = "operator";

}  // namespace weftline::testing
