// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/execution_plan.hpp"

#include <mutex>

#include "weftline/plan/plan_json.hpp"

namespace weftline {

struct ExecutionPlan::State {
  PlanRecords records;
  std::vector<OperatorFactory> operators;
  std::vector<ClockFactory> clocks;
  std::vector<ParamSet> params;
  const ParamSet no_params{};
  std::string digest;
  mutable std::once_flag json_made{};
  mutable std::string json{};
};

ExecutionPlan::ExecutionPlan(PlanRecords records, std::vector<OperatorFactory> operators,
                             std::vector<ClockFactory> clocks, std::vector<ParamSet> params) {
  auto state = std::make_shared<State>();
  state->records = std::move(records);
  state->operators = std::move(operators);
  state->clocks = std::move(clocks);
  state->params = std::move(params);
  state->digest = plan_digest(state->records);
  state_ = std::move(state);
}

bool ExecutionPlan::ok() const noexcept { return state_->records.ok(); }

std::span<const Diagnostic> ExecutionPlan::diagnostics() const noexcept {
  return state_->records.diagnostics;
}

void ExecutionPlan::require_no_errors() const {
  if (!ok()) throw CompileError(format_diagnostics(diagnostics()));
}

const PlanRecords& ExecutionPlan::records() const noexcept { return state_->records; }

const std::string& ExecutionPlan::json() const {
  std::call_once(state_->json_made, [&] { state_->json = plan_json(state_->records); });
  return state_->json;
}

const std::string& ExecutionPlan::digest() const noexcept { return state_->digest; }

const OperatorFactory& ExecutionPlan::operator_factory(VertexId vertex) const {
  return state_->operators.at(vertex.value);
}

const ClockFactory& ExecutionPlan::clock_factory(ClockId clock) const {
  return state_->clocks.at(clock.value);
}

const ParamSet& ExecutionPlan::param_set(VertexId vertex) const noexcept {
  return vertex.value < state_->params.size() ? state_->params[vertex.value] : state_->no_params;
}

}  // namespace weftline
