// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/run_session.hpp"

#include "session.hpp"

namespace weftline {

std::string_view run_termination_name(RunTermination termination) noexcept {
  switch (termination) {
    case RunTermination::kRunning:
      return "running";
    case RunTermination::kCompleted:
      return "completed";
    case RunTermination::kStopped:
      return "stopped";
    case RunTermination::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string RunDiagnostic::to_string() const { return place + ": " + error.to_string(); }

RunSession::RunSession(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
RunSession::RunSession(RunSession&&) noexcept = default;
RunSession& RunSession::operator=(RunSession&&) noexcept = default;
RunSession::~RunSession() = default;

void RunSession::request_stop() noexcept { state_->request_stop(); }
void RunSession::wait() const { static_cast<void>(state_->wait_until({})); }
bool RunSession::wait_until(std::chrono::steady_clock::time_point deadline) const {
  return state_->wait_until(deadline);
}
LifecycleControlHandle RunSession::lifecycle_control() const {
  return LifecycleControlHandle(state_->desk());
}
RunTermination RunSession::termination() const noexcept { return state_->termination(); }
std::vector<RunDiagnostic> RunSession::diagnostics() const { return state_->diagnostics(); }
std::vector<RunDiagnostic> RunSession::warnings() const { return state_->warnings(); }
std::vector<ThreadPlacementReport> RunSession::thread_placements() const {
  return state_->thread_placements();
}
RunCounters RunSession::counters() const { return state_->counters(); }
RunTrace RunSession::trace() const { return state_->trace(); }
expected<void, Error> RunSession::write_trace(const std::filesystem::path& path) const {
  return state_->write_trace(path);
}
ParameterControlHandle RunSession::parameter_control() const { return state_->parameter_control(); }
expected<RateGenerationSnapshot, Error> RunSession::capture_rate_generations() const {
  return state_->capture_rate_generations();
}

RunSession run_async(const ExecutionPlan& plan, const RunOptions& options) {
  auto state = std::make_unique<RunSession::State>(plan, options);
  state->launch();
  return RunSession(std::move(state));
}

RunSession runtime::run_async_bound(const ExecutionPlan& plan, const RunOptions& options,
                                    ChannelBindings& bindings) {
  auto state = std::make_unique<RunSession::State>(plan, options);
  state->launch(nullptr, &bindings);
  return RunSession(std::move(state));
}

}  // namespace weftline
