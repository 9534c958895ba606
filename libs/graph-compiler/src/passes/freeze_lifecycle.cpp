// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with their triggers, the lifecycle orders and restart grants of the graph.
// Adds: the start order, what each granted restart takes with it, its stage and its journal; errors
// for orders that lead in a loop and for restarts beyond the options' bounds, warnings for grants
// that no option enables.
//
// Operators start by the orders, ties by path. A restart takes all that start after its target,
// since these may rely on what it sets up: closures overlap, so their members are counted together
// (kMaximumRestartMembers) before they are kept.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "flow_order.hpp"
#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

using Disposition = LifecycleRestartDisposition;

constexpr std::size_t kShownOfLoop = 8;
constexpr std::uint32_t kTeardownStages = 2;

Successors successors_of(const CompileState& state) {
  Successors successors(state.plan.operators.size());
  for (const LifecycleOrderRecord& order : state.plan.lifecycle.order) {
    successors[order.before.value].push_back(order.after.value);
  }
  return successors;
}

void check_loops(CompileState& state, const Successors& successors) {
  for (const auto& loop : find_loops(successors)) {
    const auto path = [&](std::size_t i) { return state.plan.operators[loop[i]].path; };
    std::string way;
    for (std::size_t i = 0; i < std::min(loop.size(), kShownOfLoop); ++i) {
      way.append(path(i)).append(" -> ");
    }
    if (loop.size() > kShownOfLoop) {
      way.append("… (").append(std::to_string(loop.size() - kShownOfLoop)).append(" more) -> ");
    }
    state.error("LIFECYCLE_ORDER_CYCLE", path(0),
                "operators start after one another in a loop of " + std::to_string(loop.size()) +
                    ": " + way + path(0),
                "take out one of these lifecycle_after() calls");
  }
}

/// Bounds that the rest can count with; an error for each that is none.
LifecycleTransactionBounds bounds_of(CompileState& state,
                                     const LifecycleTransactionOptions& options) {
  const auto bounded = [&](std::string_view name, std::uint32_t value, std::uint32_t limit) {
    if (value >= 1 && value <= limit) return value;
    state.error("LIFECYCLE_OPTIONS_INVALID", "lifecycle_transactions",
                std::string(name) + " is " + std::to_string(value),
                "set CompileOptions::lifecycle_transactions->" + std::string(name) + " to 1 to " +
                    std::to_string(limit));
    return value == 0 ? 1 : limit;
  };
  constexpr std::uint32_t kAny = 0xffff'ffffU;
  return {
      .max_closure_operators =
          bounded("max_closure_operators", options.max_closure_operators, kMaximumRestartClosure),
      .max_journal_entries = bounded("max_journal_entries", options.max_journal_entries, kAny),
      .max_pending_requests = bounded("max_pending_requests", options.max_pending_requests, kAny)};
}

/// The stages of a restart from `stage` on: down, and up again.
std::uint32_t stages_from(LifecycleStage stage) {
  return kTeardownStages + static_cast<std::uint32_t>(LifecycleStage::kStart) -
         static_cast<std::uint32_t>(stage) + 1;
}

/// Its source is bound in kArm, so that nothing may come before.
bool waits_on_source(const OperatorPlanRecord& op) {
  switch (op.trigger.kind) {
    case TemporalRecordTriggerKind::kReadable:
    case TemporalRecordTriggerKind::kNotified:
    case TemporalRecordTriggerKind::kDoorbell:
    case TemporalRecordTriggerKind::kSpin:
      return true;
    default:
      return false;
  }
}

class Closures {
 public:
  Closures(CompileState& state, const Successors& successors, LifecycleTransactionBounds bounds)
      : state_(state),
        successors_(successors),
        bounds_(bounds),
        position_(state.plan.operators.size()),
        seen_in_(state.plan.operators.size(), 0) {
    const auto& order = state.plan.lifecycle.start_order;
    for (std::uint32_t at = 0; at < order.size(); ++at) position_[order[at].value] = at;
  }

  /// The closure of `target`, made at its first use; null when it is beyond a bound, with an error
  /// that first time.
  const RestartClosureRecord* of(VertexId target) {
    const auto [known, added] = index_.try_emplace(target, kRefused);
    if (added && find(target)) {
      known->second = records_.size();
      records_.push_back(make(target));
    }
    return known->second == kRefused ? nullptr : &records_[known->second];
  }
  /// By target: grants are asked for in that order.
  [[nodiscard]] std::vector<RestartClosureRecord> take() && { return std::move(records_); }

 private:
  static constexpr std::size_t kRefused = ~std::size_t{0};

  /// Fills found_; false when there are too many.
  bool find(VertexId target) {
    ++round_;
    found_.assign(1, target);
    seen_in_[target.value] = round_;
    for (std::size_t next = 0; next < found_.size(); ++next) {
      for (const std::uint32_t after : successors_[found_[next].value]) {
        if (seen_in_[after] == round_) continue;
        seen_in_[after] = round_;
        found_.push_back(VertexId{after});
        if (found_.size() > bounds_.max_closure_operators) {
          refuse(target,
                 "more than " + std::to_string(bounds_.max_closure_operators) +
                     " operators start after it and would restart with it",
                 "raise CompileOptions::lifecycle_transactions->max_closure_operators, or take out "
                 "lifecycle_after() calls");
          return false;
        }
      }
    }
    if (found_.size() <= kMaximumRestartMembers - kept_) return true;
    refuse(target,
           "it and the targets before it restart more than " +
               std::to_string(kMaximumRestartMembers) + " operators in all",
           "grant fewer restarts, or take out lifecycle_after() calls");
    return false;
  }

  RestartClosureRecord make(VertexId target) {
    kept_ += found_.size();
    std::ranges::sort(found_, {}, [&](VertexId vertex) { return position_[vertex.value]; });
    return {.target = target,
            .members = found_,
            .max_journal_entries = static_cast<std::uint32_t>(found_.size()) *
                                   stages_from(LifecycleStage::kConfigure)};
  }

  void refuse(VertexId target, std::string why, std::string fix) {
    state_.error("LIFECYCLE_CLOSURE_TOO_LARGE", state_.op(target).path, std::move(why),
                 std::move(fix));
  }

  CompileState& state_;
  const Successors& successors_;
  LifecycleTransactionBounds bounds_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> seen_in_;
  std::uint32_t round_{0};
  std::size_t kept_{0};
  std::vector<VertexId> found_{};
  std::map<VertexId, std::size_t> index_{};
  std::vector<RestartClosureRecord> records_{};
};

std::string requester_name(const CompileState& state, const RestartGrantSnapshot& grant) {
  return grant.requester ? state.plan.operators[grant.requester->value].path : "the outside";
}

/// Two graphs of a tree may grant the same; then they say the same.
std::vector<RestartGrantRecord> distinct_grants(CompileState& state) {
  std::vector<RestartGrantRecord> grants;
  for (const RestartGrantSnapshot& grant : state.graph.restart_grants) {
    const VertexId requester = grant.requester.value_or(VertexId{});
    if (!grants.empty() && grants.back().target == grant.target &&
        grants.back().requester == requester) {
      const LifecycleStage before = grants.back().requested_stage;
      if (before == grant.from_stage) continue;
      state.error("LIFECYCLE_GRANT_CONFLICT", state.op(grant.target).path,
                  "a restart by " + requester_name(state, grant) + " is granted from stage " +
                      std::string(lifecycle_stage_name(before)) + " and from " +
                      std::string(lifecycle_stage_name(grant.from_stage)),
                  "grant it once");
      continue;
    }
    grants.push_back({.requester = requester,
                      .target = grant.target,
                      .requested_stage = grant.from_stage,
                      .effective_stage = grant.from_stage});
  }
  return grants;
}

void admit(CompileState& state, RestartGrantRecord& grant, Closures& closures,
           const LifecycleTransactionBounds& bounds) {
  grant.disposition = Disposition::kRejected;
  const RestartClosureRecord* closure = closures.of(grant.target);
  if (closure == nullptr) return;
  const bool waits = std::ranges::any_of(
      closure->members, [&](VertexId member) { return waits_on_source(state.op(member)); });
  if (waits && grant.requested_stage > LifecycleStage::kArm) {
    grant.effective_stage = LifecycleStage::kArm;
    grant.widening = LifecycleStageWidening::kReadinessSource;
  }
  const auto entries =
      static_cast<std::uint32_t>(closure->members.size()) * stages_from(grant.effective_stage);
  if (entries > bounds.max_journal_entries) {
    state.error("LIFECYCLE_JOURNAL_TOO_SMALL", state.op(grant.target).path,
                "a restart of " + std::to_string(closure->members.size()) +
                    " operators from stage " +
                    std::string(lifecycle_stage_name(grant.effective_stage)) + " writes " +
                    std::to_string(entries) + " journal entries, the limit is " +
                    std::to_string(bounds.max_journal_entries),
                "raise CompileOptions::lifecycle_transactions->max_journal_entries");
    return;
  }
  grant.journal_entries = entries;
  grant.disposition = Disposition::kAdmitted;
}

void freeze_grants(CompileState& state, const Successors& successors) {
  LifecyclePlanRecord& lifecycle = state.plan.lifecycle;
  const auto& options = state.options.lifecycle_transactions;
  lifecycle.restart_grants = distinct_grants(state);
  if (!options) {
    for (const RestartGrantRecord& grant : lifecycle.restart_grants) {
      state.warning("LIFECYCLE_RESTART_DISABLED", state.op(grant.target).path,
                    "a restart by " +
                        (grant.requester.valid() ? state.op(grant.requester).path
                                                 : std::string("the outside")) +
                        " is granted, but this plan has no restarts",
                    "set CompileOptions::lifecycle_transactions, or take the grant out");
    }
    return;
  }
  lifecycle.transactions = bounds_of(state, *options);
  Closures closures(state, successors, *lifecycle.transactions);
  for (RestartGrantRecord& grant : lifecycle.restart_grants) {
    admit(state, grant, closures, *lifecycle.transactions);
  }
  lifecycle.restart_closures = std::move(closures).take();
}

}  // namespace

void freeze_lifecycle(CompileState& state) {
  state.plan.lifecycle.order = state.graph.lifecycle_order;
  const Successors successors = successors_of(state);
  check_loops(state, successors);
  for (const std::uint32_t vertex : topological_order(successors)) {
    state.plan.lifecycle.start_order.push_back(VertexId{vertex});
  }
  freeze_grants(state, successors);
}

}  // namespace weftline::passes
