// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "placed_thread.hpp"
#include "session_resources.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline {

/// A session's threads and outcome. The controller thread waits for the lanes, stops the operators
/// and publishes the termination; everything else only reads.
class RunSession::State {
 public:
  explicit State(const ExecutionPlan& plan)
      : resources_(std::make_unique<runtime::SessionResources>(plan)) {}
  ~State() {
    request_stop();
    controller_.join();
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// `bindings` may be null: the plan's exports are opened as channels of this machine.
  void launch(const RunOptions& options, runtime::ChannelBindings* bindings = nullptr);

  void request_stop() noexcept {
    if (resources_) resources_->control.stop();
  }
  void wait() const {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return termination_.load() != RunTermination::kRunning; });
  }
  bool wait_until(std::chrono::steady_clock::time_point deadline) const {
    std::unique_lock lock(mutex_);
    return ended_.wait_until(lock, deadline,
                             [this] { return termination_.load() != RunTermination::kRunning; });
  }
  RunTermination termination() const noexcept { return termination_.load(); }
  std::vector<RunDiagnostic> diagnostics() const {
    return resources_ ? resources_->control.diagnostics() : build_diagnostics_;
  }
  const std::vector<RunDiagnostic>& warnings() const noexcept { return warnings_; }
  const std::vector<ThreadPlacementReport>& thread_placements() const noexcept {
    return placements_;
  }
  RunCounters counters() const;
  RunTrace trace() const;
  expected<void, Error> write_trace(const std::filesystem::path& path) const;

 private:
  void reject(std::string place, Error error);
  [[nodiscard]] bool start_operators();
  [[nodiscard]] expected<void, Error> await_peers(std::string& place);
  void control_run();
  void end(RunTermination termination);

  std::unique_ptr<runtime::SessionResources> resources_;
  std::vector<RunDiagnostic> build_diagnostics_{};
  // Complete before the controller starts.
  std::vector<RunDiagnostic> warnings_{};
  std::vector<ThreadPlacementReport> placements_{};
  std::atomic<RunTermination> termination_{RunTermination::kRunning};
  mutable std::mutex mutex_{};
  mutable std::condition_variable ended_{};
  runtime::PlacedThread controller_{};
};

}  // namespace weftline
