// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

#include "placed_thread.hpp"
#include "session_resources.hpp"
#include "session_steps.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline {

/// A session's threads and outcome. Whoever calls run_async() makes the resources; the controller
/// thread brings them to life, waits for the lanes, takes down what it brought up, and publishes
/// the termination; whoever destroys the session undoes the rest. Everybody else only reads.
class RunSession::State {
 public:
  State(const ExecutionPlan& plan, const RunOptions& options) : resources_(plan, options) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// `hooks` and `bindings` are for tests, and live longer than the session.
  void launch(runtime::SessionHooks* hooks = nullptr, runtime::ChannelBindings* bindings = nullptr);

  void request_stop() noexcept { resources_.control.stop(); }
  /// False when the deadline came first.
  bool wait_until(std::optional<std::chrono::steady_clock::time_point> deadline) const;
  const std::shared_ptr<runtime::RestartDesk>& desk() const noexcept { return resources_.desk; }
  RunTermination termination() const noexcept { return termination_.load(); }
  std::vector<RunDiagnostic> diagnostics() const { return resources_.control.diagnostics(); }
  std::vector<RunDiagnostic> warnings() const;
  const std::vector<ThreadPlacementReport>& thread_placements() const noexcept {
    return resources_.placements;
  }
  RunCounters counters() const { return resources_.counters(); }
  RunTrace trace() const {
    return resources_.observation ? resources_.observation->trace() : RunTrace{};
  }
  expected<void, Error> write_trace(const std::filesystem::path& path) const;
  ParameterControlHandle parameter_control() const {
    return ParameterControlHandle(resources_.params);
  }
  expected<RateGenerationSnapshot, Error> capture_rate_generations() const {
    if (resources_.params) return resources_.rates.capture();
    return weftline::fail(ErrorCode::kClosed, "RUN_NOT_BUILT",
                          "the session failed before it had rates");
  }

 private:
  [[nodiscard]] expected<void, RunDiagnostic> place_controller();
  void control_run() noexcept;
  void fail(RunDiagnostic diagnostic) noexcept;
  /// Waits until every lane has ended.
  void await_lanes() noexcept;
  void end(RunTermination termination);

  mutable runtime::SessionResources resources_;  // mutable: reading the warnings looks for new ones
  runtime::SessionSteps steps_{resources_};
  std::atomic<RunTermination> termination_{RunTermination::kRunning};
  mutable std::mutex mutex_{};
  mutable std::condition_variable ended_{};
  runtime::PlacedThread controller_{};
};

}  // namespace weftline
