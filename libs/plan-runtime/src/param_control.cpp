// SPDX-License-Identifier: Apache-2.0
#include "param_control.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

namespace weftline::runtime {
namespace {

/// The earliest stage that an admitted restart which takes the operator along begins at.
std::optional<LifecycleStage> restart_stage(const PlanRecords& plan, VertexId vertex) {
  std::optional<LifecycleStage> earliest;
  for (const RestartGrantRecord& grant : plan.lifecycle.restart_grants) {
    if (grant.disposition != LifecycleRestartDisposition::kAdmitted) continue;
    const auto closure = std::ranges::find(plan.lifecycle.restart_closures, grant.target,
                                           &RestartClosureRecord::target);
    const bool takes_it = closure != plan.lifecycle.restart_closures.end() &&
                          std::ranges::find(closure->members, vertex) != closure->members.end();
    if (!takes_it) continue;
    earliest = std::min(earliest.value_or(grant.effective_stage), grant.effective_stage);
  }
  return earliest;
}

ParamUpdateResult refused(ParamUpdateStatus status, ErrorCode code, std::string_view token,
                          std::string message) {
  return {status, 0, Error{code, token, std::move(message), 0}, {}};
}

}  // namespace

bool ParamAccessLink::admits(std::string_view operator_path, std::string_view field_path,
                             bool write) const noexcept {
  if (write && access.read_only) return false;
  const auto covers = [&](const ParamScope& scope) {
    return scope.operator_path == operator_path &&
           (scope.field_path.empty() || scope.field_path == field_path);
  };
  if (access.scopes && std::ranges::none_of(*access.scopes, covers)) return false;
  return !before || before->admits(operator_path, field_path, write);
}

ParamControl::ParamControl(const ExecutionPlan& plan) : plan_digest_(plan.digest()) {
  for (const OperatorPlanRecord& record : plan.operators()) {
    const ParamSet& set = plan.param_set(record.id);
    cells_.push_back(set.schema() == nullptr
                         ? nullptr
                         : std::make_unique<ParamCell>(
                               set, ParamCell::Options{
                                        .path = record.path,
                                        .restart_from = restart_stage(plan.records(), record.id)}));
    by_path_.emplace(record.path, cells_.back().get());
  }
}

ParamUpdateResult ParamControl::update(std::string_view operator_path,
                                       std::span<const ParamAssignment> batch,
                                       const ParamUpdateOptions& options,
                                       const ParamAccessLink* access) {
  const std::string path(operator_path);
  for (const ParamAssignment& each : batch) {
    if (access == nullptr || access->admits(operator_path, each.path, true)) continue;
    return refused(ParamUpdateStatus::kPermissionDenied, ErrorCode::kPermissionDenied,
                   "PARAM_ACCESS_DENIED",
                   "this handle is restricted, and may not update " + path + "." + each.path);
  }
  const auto found = by_path_.find(operator_path);
  if (found == by_path_.end()) {
    return refused(ParamUpdateStatus::kNotFound, ErrorCode::kNotFound, "PARAM_OPERATOR_UNKNOWN",
                   "the plan has no operator " + path + "; operators are named by their path");
  }
  if (found->second == nullptr) {
    return refused(ParamUpdateStatus::kNotFound, ErrorCode::kNotFound, "PARAM_FIELD_UNKNOWN",
                   path + " has no parameters");
  }
  return found->second->update(batch, options);
}

ParamSnapshot ParamControl::snapshot(const ParamAccessLink* access) const {
  ParamSnapshot snapshot{.plan_digest = plan_digest_};
  // All at once, so that no update is older than one that is in it. Whoever else holds a cell holds
  // no second one.
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const auto& cell : cells_) {
    if (cell) locks.emplace_back(cell->mutex());
  }
  for (const auto& cell : cells_) {
    if (cell) snapshot.operators.push_back(cell->capture_locked());
  }
  locks.clear();
  if (access == nullptr) return snapshot;
  for (OperatorParamValues& each : snapshot.operators) {
    std::erase_if(each.fields, [&](const ParamFieldValue& field) {
      return !access->admits(each.operator_path, field.path, false);
    });
  }
  std::erase_if(snapshot.operators,
                [](const OperatorParamValues& each) { return each.fields.empty(); });
  return snapshot;
}

void ParamControl::end() noexcept {
  for (const auto& cell : cells_) {
    if (cell) cell->end();
  }
}

}  // namespace weftline::runtime
