// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/session_faults.hpp"

#include "session.hpp"
#include "session_hooks.hpp"

namespace weftline::testing {

class SessionFaults::Hooks final : public runtime::SessionHooks {
 public:
  explicit Hooks(std::size_t failing) : failing_(failing) {}

  void begun(std::string_view step) override { begun_steps.emplace_back(step); }
  bool admits(std::string_view step, std::string_view place) override {
    actions.push_back(std::string(step) + ": " + std::string(place));
    return actions.size() != failing_ + 1;
  }
  void undone(std::string_view step) noexcept override { undone_steps.emplace_back(step); }

  std::vector<std::string> begun_steps{};
  std::vector<std::string> undone_steps{};
  std::vector<std::string> actions{};

 private:
  const std::size_t failing_;
};

SessionFaults::SessionFaults(std::size_t failing) : hooks_(std::make_unique<Hooks>(failing)) {}
SessionFaults::~SessionFaults() = default;

RunSession SessionFaults::run_async(const ExecutionPlan& plan, const RunOptions& options) {
  auto state = std::make_unique<RunSession::State>(plan, options);
  state->launch(hooks_.get());
  return RunSession(std::move(state));
}

RunSession SessionFaults::run_async(const ExecutionPlan& plan, const RunOptions& options,
                                    FakeChannels& channels) {
  auto state = std::make_unique<RunSession::State>(plan, options);
  state->launch(hooks_.get(), &channels.bindings());
  return RunSession(std::move(state));
}

const std::vector<std::string>& SessionFaults::begun() const noexcept {
  return hooks_->begun_steps;
}
const std::vector<std::string>& SessionFaults::undone() const noexcept {
  return hooks_->undone_steps;
}
const std::vector<std::string>& SessionFaults::actions() const noexcept { return hooks_->actions; }

}  // namespace weftline::testing
