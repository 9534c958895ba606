// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include <algorithm>
#include <utility>

#include "activation.hpp"
#include "guarded.hpp"
#include "materialization.hpp"
#include "restart_runner.hpp"
#include "session_threads.hpp"
#include "weftline/core/file.hpp"

namespace weftline {

using runtime::Parker;

RunSession::State::~State() {
  request_stop();
  static_cast<void>(wait_until({}));
  controller_.join();
}

void RunSession::State::launch(runtime::SessionHooks* hooks, runtime::ChannelBindings* bindings) {
  steps_.use(hooks, bindings);
  auto made = runtime::admit_plan(resources_.plan, resources_.options, bindings != nullptr);
  if (made) made = steps_.make(runtime::materialization_steps());
  if (made) made = place_controller();
  if (made) {
    controller_.start();
    return;
  }
  controller_.join();
  fail(std::move(made).error());
  steps_.undo_to(0);
  resources_.desk->close();
  end(RunTermination::kFailed);
}

expected<void, RunDiagnostic> RunSession::State::place_controller() {
  constexpr SupportThreadRole kRole = SupportThreadRole::kController;
  const std::string name = runtime::thread_name(kRole);
  auto placed = runtime::guarded("RUN_THREAD_UNAVAILABLE", [&]() -> expected<void, Error> {
    WEFTLINE_TRY(steps_.admit("controller", name));
    controller_.launch(name, runtime::asked_for(resources_.plan.records(), kRole),
                       [this] { control_run(); });
    WEFTLINE_TRY(steps_.admit("controller's place", name));
    return runtime::admit(resources_, controller_.report());
  });
  if (!placed) return make_unexpected(RunDiagnostic{name, std::move(placed).error()});
  return {};
}

void RunSession::State::fail(RunDiagnostic diagnostic) noexcept {
  resources_.control.fail(std::move(diagnostic.place), std::move(diagnostic.error));
}

void RunSession::State::control_run() noexcept {
  auto& control = resources_.control;
  const std::size_t resources_made = steps_.count();
  bool ran = false;
  if (auto active = steps_.make(runtime::activation_steps()); active) {
    ran = true;
    await_lanes();
  } else if (active.error().error.code != ErrorCode::kInterrupted || !control.stopping()) {
    fail(std::move(active).error());
  }
  resources_.desk->close();
  control.begin_ending();
  steps_.undo_to(resources_made);
  if (resources_.params) resources_.params->end();

  const bool all_finished = ran && std::ranges::all_of(resources_.lanes, [](const auto& lane) {
                              return lane->finished();
                            });
  if (!control.diagnostics().empty()) {
    end(RunTermination::kFailed);
  } else if (control.succeeded() || all_finished) {
    end(RunTermination::kCompleted);
  } else {
    end(RunTermination::kStopped);
  }
}

void RunSession::State::await_lanes() noexcept {
  Parker& parker = resources_.control.controller();
  const auto ended = [this] {
    return std::ranges::all_of(resources_.lanes, [](const auto& lane) { return lane->ended(); });
  };
  // Each lane wakes the controller when it ends, and whoever asks for a restart.
  runtime::RestartRunner restarts(resources_, *resources_.desk);
  while (!ended()) {
    if (restarts.serve()) continue;
    if (!parker.take_notification() && !ended()) parker.park({});
  }
}

void RunSession::State::end(RunTermination termination) {
  {
    const std::lock_guard lock(mutex_);
    termination_.store(termination);
  }
  ended_.notify_all();
}

bool RunSession::State::wait_until(
    std::optional<std::chrono::steady_clock::time_point> deadline) const {
  const auto ended = [this] { return termination_.load() != RunTermination::kRunning; };
  std::unique_lock lock(mutex_);
  while (!ended()) {
    const auto look_at = std::chrono::steady_clock::now() + resources_.watch.interval();
    if (ended_.wait_until(lock, std::min(look_at, deadline.value_or(look_at)), ended)) break;
    if (deadline && std::chrono::steady_clock::now() >= *deadline) return false;
    lock.unlock();
    resources_.watch.look();
    lock.lock();
  }
  return true;
}

std::vector<RunDiagnostic> RunSession::State::warnings() const {
  resources_.watch.look();
  return resources_.control.warnings();
}

expected<void, Error> RunSession::State::write_trace(const std::filesystem::path& path) const {
  WEFTLINE_TRY(save_file(path, chrome_trace_json(resources_.plan.records(), trace())));
  return {};
}

}  // namespace weftline
