// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "session_hooks.hpp"
#include "session_resources.hpp"

namespace weftline::runtime {

/// What a step of bringing a session up works with.
struct SessionBuild {
  SessionResources& resources;
  SessionHooks* hooks{nullptr};
  /// Where ports to other processes come from; null: this machine's channels.
  ChannelBindings* bindings{nullptr};
  std::string_view step{};
  std::string place{"session"};  ///< What is being made: where an error is from.

  [[nodiscard]] const ExecutionPlan& plan() const noexcept { return resources.plan; }
  /// Stands before each action that can fail, and says what is made.
  [[nodiscard]] expected<void, Error> at(std::string what);
};

/// One step. `undo` takes back whatever `make` has made, also when that failed half-way; null where
/// there is nothing to take back.
struct SessionStep {
  std::string_view name;
  expected<void, Error> (*make)(SessionBuild&);
  void (*undo)(SessionResources&) noexcept;
};

/// The steps that a session has made, newest last. One thread at a time: the one that calls
/// run_async(), then the controller, then the one that destroys the session.
class SessionSteps {
 public:
  explicit SessionSteps(SessionResources& resources) noexcept : resources_(resources) {}
  SessionSteps(const SessionSteps&) = delete;
  SessionSteps& operator=(const SessionSteps&) = delete;
  ~SessionSteps() { undo_to(0); }

  /// What tests put in place of the real thing; null where nothing.
  void use(SessionHooks* hooks, ChannelBindings* bindings) noexcept {
    hooks_ = hooks;
    bindings_ = bindings;
  }
  /// Makes steps in order, up to the first that fails; nothing is undone yet.
  [[nodiscard]] expected<void, RunDiagnostic> make(std::span<const SessionStep> steps);
  /// Before an action that is no step's: whether a test lets it happen.
  [[nodiscard]] expected<void, Error> admit(std::string_view step, const std::string& place);
  [[nodiscard]] std::size_t count() const noexcept { return made_.size(); }
  /// Undoes the newest, in the exact reverse of their making, until `count` are left.
  void undo_to(std::size_t count) noexcept;

 private:
  SessionResources& resources_;
  SessionHooks* hooks_{nullptr};
  ChannelBindings* bindings_{nullptr};
  std::vector<const SessionStep*> made_{};
};

}  // namespace weftline::runtime
