// SPDX-License-Identifier: Apache-2.0
#include "session_steps.hpp"

#include <utility>

#include "guarded.hpp"

namespace weftline::runtime {

expected<void, Error> SessionBuild::at(std::string what) {
  place = std::move(what);
  if (hooks == nullptr || hooks->admits(step, place)) return {};
  return fail(ErrorCode::kFailure, "RUN_FAULT_INJECTED", "a test made it fail");
}

expected<void, Error> SessionSteps::admit(std::string_view step, const std::string& place) {
  SessionBuild build{.resources = resources_, .hooks = hooks_, .step = step};
  return build.at(place);
}

expected<void, RunDiagnostic> SessionSteps::make(std::span<const SessionStep> steps) {
  SessionBuild build{.resources = resources_, .hooks = hooks_, .bindings = bindings_};
  for (const SessionStep& step : steps) {
    build.step = step.name;
    auto made = guarded("RUN_BUILD_THREW", [&]() -> expected<void, Error> {
      made_.push_back(&step);
      if (hooks_ != nullptr) hooks_->begun(step.name);
      return step.make(build);
    });
    if (!made) {
      return make_unexpected(RunDiagnostic{std::move(build.place), std::move(made).error()});
    }
  }
  return {};
}

void SessionSteps::undo_to(std::size_t count) noexcept {
  while (made_.size() > count) {
    const SessionStep& step = *made_.back();
    made_.pop_back();
    if (step.undo != nullptr) step.undo(resources_);
    if (hooks_ != nullptr) hooks_->undone(step.name);
  }
}

}  // namespace weftline::runtime
