// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/execution_plan.hpp"

#include "weftline/core/digest.hpp"
#include "weftline/plan/plan_json.hpp"

namespace weftline {

struct ExecutionPlan::State {
  PlanRecords records;
  std::vector<OperatorFactory> operators;
  std::vector<ClockFactory> clocks;
  std::string json;
  std::string digest;
};

ExecutionPlan::ExecutionPlan(PlanRecords records, std::vector<OperatorFactory> operators,
                             std::vector<ClockFactory> clocks) {
  auto state = std::make_shared<State>();
  state->records = std::move(records);
  state->operators = std::move(operators);
  state->clocks = std::move(clocks);
  state->json = plan_json(state->records);
  // The digest of those bytes; making them again would take as long as all the passes.
  state->digest = digest_text(sha256(state->json));
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
const std::string& ExecutionPlan::json() const noexcept { return state_->json; }
const std::string& ExecutionPlan::digest() const noexcept { return state_->digest; }

const OperatorFactory& ExecutionPlan::operator_factory(VertexId vertex) const {
  return state_->operators.at(vertex.value);
}

const ClockFactory& ExecutionPlan::clock_factory(ClockId clock) const {
  return state_->clocks.at(clock.value);
}

}  // namespace weftline
