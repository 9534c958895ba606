// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/channel/channel_runtime.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/graph/execution_plan.hpp"
#include "weftline/plan/rate_generation.hpp"
#include "weftline/runtime/lifecycle_control.hpp"
#include "weftline/runtime/observe_options.hpp"
#include "weftline/runtime/parameter_control.hpp"
#include "weftline/runtime/run_counters.hpp"
#include "weftline/runtime/run_trace.hpp"
#include "weftline/runtime/thread_placement_report.hpp"

namespace weftline {

enum class RunTermination : std::uint8_t {
  kRunning = 0,
  kCompleted,  ///< Every operator finished, or one of them asked for success.
  kStopped,    ///< request_stop() came first.
  kFailed,     ///< See diagnostics().
};

[[nodiscard]] std::string_view run_termination_name(RunTermination termination) noexcept;

/// Why a run failed.
struct RunDiagnostic {
  std::string place{};  ///< Operator path, pool, endpoint or device.
  Error error{};
  /// "source: kFailure [TOKEN]: message"
  [[nodiscard]] std::string to_string() const;
};

/// What this machine adds to a plan.
struct RunOptions {
  DeviceOptions devices{};
  ChannelRuntimeOptions channels{};
  ObserveOptions observe{};
  /// How often a lifecycle callback that answers kRetryableFailure is called again, in each stage,
  /// with pauses from 1 ms, doubled up to 100 ms.
  std::uint32_t lifecycle_retries{0};
  /// How long a callback may go on after the run was asked to end before it is reported by name
  /// (RUN_CALLBACK_LATE), in warnings() and as a line on the standard error; then again after twice
  /// as long, and so on. Reported by whoever waits for the session or reads its warnings. Positive.
  std::chrono::nanoseconds late_callback_interval{std::chrono::seconds(1)};
};

/// A running plan: owns its threads and everything they use. Any thread may call the const members
/// and request_stop(), except that no operator's callback may wait for its own session or destroy
/// it: that would wait for itself. A session that was moved from may only be assigned or destroyed.
///
/// Tensor handles that outlive the session stay valid; the last one waits on the host for device
/// work that is still pending on its pool.
class RunSession {
 public:
  RunSession(RunSession&&) noexcept;
  RunSession& operator=(RunSession&&) noexcept;
  /// Stops and joins: blocks until the activations that are running have returned.
  ~RunSession();

  /// Asks every lane to end after its current activation. Queued samples are not drained and
  /// outputs are not closed: that is what `Output::close()` in a source is for. Returns at once.
  void request_stop() noexcept;
  /// Blocks until the run has ended and every operator's stop() has returned: for ever where a
  /// clock trigger's source never closes its outputs and nobody stops it.
  void wait() const;
  /// The same with an absolute deadline; false when the run goes on.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Restarts operators while the rest goes on; see there for what a plan has to say for it.
  [[nodiscard]] LifecycleControlHandle lifecycle_control() const;

  [[nodiscard]] RunTermination termination() const noexcept;
  [[nodiscard]] std::vector<RunDiagnostic> diagnostics() const;
  /// What the run goes without although the plan asks for it, where the plan lets it: a warning
  /// fails nothing. Complete when run_async() returns.
  [[nodiscard]] std::vector<RunDiagnostic> warnings() const;
  /// Where each thread of the session is, in the order of making: what was asked for it, what the
  /// system took of that, and what the thread read back. Complete when run_async() returns; of a
  /// session that failed then, as far as it came.
  [[nodiscard]] std::vector<ThreadPlacementReport> thread_placements() const;
  /// Reads without stopping anything; allocates, and asks the system about each lane's thread.
  [[nodiscard]] RunCounters counters() const;
  /// The last events of each lane, while it runs or after; no lanes unless
  /// ObserveOptions::trace_events. Stops nothing; allocates.
  [[nodiscard]] RunTrace trace() const;
  /// The same as a file for Chrome's and Perfetto's viewers; errors are those of save_file().
  expected<void, Error> write_trace(const std::filesystem::path& path) const;
  /// Changes parameters while the run goes on. The handle may outlive the session.
  [[nodiscard]] ParameterControlHandle parameter_control() const;
  /// Copies of the rate generation that the run armed with, and of the last one that was refused to
  /// the owner of a selectable output; also after the end of the run. Either may be absent: nothing
  /// is published before every operator has started. kClosed (RUN_NOT_BUILT) where the session
  /// failed before that.
  [[nodiscard]] expected<RateGenerationSnapshot, Error> capture_rate_generations() const;

  class State;  // private to the library
  explicit RunSession(std::unique_ptr<State> state) noexcept;

 private:
  std::unique_ptr<State> state_;
};

/// Builds everything that the plan counts, starts the operators, and runs one thread per partition.
/// Nothing of it throws: whatever can't be had gives a session that has failed already, with
/// diagnostics, and leaves nothing behind. A rejected plan fails with RUN_PLAN_REJECTED.
[[nodiscard]] RunSession run_async(const ExecutionPlan& plan, const RunOptions& options = {});

}  // namespace weftline
