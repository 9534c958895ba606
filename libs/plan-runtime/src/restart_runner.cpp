// SPDX-License-Identifier: Apache-2.0
#include "restart_runner.hpp"

#include <algorithm>
#include <utility>

#include "guarded.hpp"
#include "weftline/core/time.hpp"

namespace weftline::runtime {
namespace {

using State = LifecycleTransactionState;

bool holds(std::span<const VertexId> members, VertexId vertex) {
  return std::ranges::find(members, vertex) != members.end();
}

Error session_ending() {
  return {ErrorCode::kClosed, "RESTART_SESSION_ENDING", "the session ends", 0};
}

}  // namespace

bool RestartRunner::serve() noexcept {
  bool served = false;
  while (const auto transaction = desk_.take()) {
    run(*transaction);
    served = true;
  }
  return served;
}

void RestartRunner::run(RestartTransaction& transaction) noexcept {
  LaneGate& gate = resources_.control.gate();
  const std::int64_t began = RealtimeClock{}.now_ns();
  const Members members = closure_of(transaction);
  desk_.begin(transaction, epoch_ + 1);
  for_params(members,
             [&](ParamCell& cell) { cell.expect_restart(transaction.view.effective_stage); });
  if (!gate.pause()) {
    for_params(members, [](ParamCell& cell) { cell.forget_restart(); });
    desk_.finish(transaction, State::kRejected, session_ending(), 0);
    return;
  }
  Outcome outcome;
  auto attempted = guarded("RESTART_THREW", [&]() -> expected<void, Error> {
    outcome = attempt(transaction, members);
    return {};
  });
  if (!attempted) {
    outcome = {State::kFailedStopped, transaction.place, std::move(attempted).error()};
  }
  for_params(members, [](ParamCell& cell) { cell.end_restart(); });
  others_.clear();
  rebound_.clear();
  if (outcome.state == State::kCommitted) ++epoch_;
  if (outcome.state == State::kFailedStopped && !resources_.control.stopping()) {
    resources_.control.fail(outcome.place, outcome.error);
  }
  const std::int64_t ended = RealtimeClock{}.now_ns();
  if (TraceRing* const trace =
          resources_.observation ? resources_.observation->trace_of_controller() : nullptr) {
    trace->record({.kind = TraceEventKind::kRestart,
                   .vertex = transaction.target,
                   .begin_ns = began,
                   .end_ns = ended,
                   .value = static_cast<std::uint64_t>(outcome.state)});
  }
  // Before lanes go on: one that has asked waits for that, and its operator may ask again.
  desk_.finish(transaction, outcome.state, std::move(outcome.error),
               static_cast<std::uint64_t>(ended - began));
  gate.resume();
}

RestartRunner::Members RestartRunner::closure_of(const RestartTransaction& transaction) const {
  const auto& closures = resources_.plan.records().lifecycle.restart_closures;
  return std::ranges::find(closures, transaction.target, &RestartClosureRecord::target)->members;
}

template <class Call>
void RestartRunner::for_params(Members members, const Call& call) {
  for (const VertexId member : members) {
    if (ParamCell* const cell = resources_.operators[member.value]->params()) call(*cell);
  }
}

RestartRunner::Outcome RestartRunner::attempt(RestartTransaction& transaction, Members members) {
  const LifecycleStage from = transaction.view.effective_stage;

  if (auto checked = check(members); !checked) {
    return {State::kRejected, transaction.place, std::move(checked).error()};
  }
  if (from == LifecycleStage::kConfigure) {
    auto made = make_candidates(members);
    if (!made) {
      return {State::kRolledBack, std::move(made.error().place), std::move(made.error().error)};
    }
  }
  desk_.advance(transaction, State::kStopping);
  take_down(members, from);
  // A callback that can't take down what it has built has failed the run.
  if (resources_.control.stopping()) return {State::kFailedStopped, {}, session_ending()};
  desk_.advance(transaction, State::kStarting);
  for_params(members, [&](ParamCell& cell) { cell.begin_restart(from); });
  exchange(members);
  if (auto up = bring_up(members, from); !up) return roll_back(members, from, up.error());
  if (auto rebound = rebind_imports(); !rebound) {
    return {State::kFailedStopped, std::move(rebound.error().place),
            std::move(rebound.error().error)};
  }
  commit(members);
  return {};
}

expected<void, Error> RestartRunner::check(Members members) {
  for (const VertexId member : members) {
    const OperatorRuntime& operation = *resources_.operators[member.value];
    if (operation.restartable()) continue;
    return fail(ErrorCode::kClosed, "RESTART_TARGET_FINISHED",
                operation.record().path +
                    " has closed an output, and a stream that has ended does not begin again");
  }
  for (const auto& import : resources_.imports) {
    const bool feeds =
        std::ranges::any_of(resources_.plan.import_edges(), [&](const ImportEdgePlanRecord& edge) {
          return edge.endpoint_name == import->name() && holds(members, edge.target.vertex);
        });
    if (!feeds) continue;
    WEFTLINE_TRY(import->check_rebind());
    rebound_.push_back(import.get());
  }
  return {};
}

expected<void, RunDiagnostic> RestartRunner::make_candidates(Members members) {
  for (const VertexId member : members) {
    OperatorRuntime& operation = *resources_.operators[member.value];
    auto made = operation.make_candidate(resources_.plan.operator_factory(member));
    if (!made) {
      return make_unexpected(RunDiagnostic{operation.record().path, std::move(made).error()});
    }
    others_.push_back(std::move(*made));
  }
  return {};
}

void RestartRunner::take_down(Members members, LifecycleStage from) noexcept {
  // What is outside hears of the end first.
  for (const VertexId member : members) resources_.operators[member.value]->close_source();
  // Callbacks may have queued device work, and those that take down may free what it uses.
  resources_.synchronize_streams();
  resources_.lifecycle->stop(members);
  if (from > LifecycleStage::kAllocate) return;
  resources_.synchronize_streams();
  resources_.lifecycle->release(members);
}

expected<void, RunDiagnostic> RestartRunner::bring_up(Members members, LifecycleStage from) {
  for (const VertexId member : members) resources_.operators[member.value]->reset_source();
  for (auto stage = static_cast<std::uint8_t>(from);
       is_lifecycle_forward_stage(static_cast<LifecycleStage>(stage)); ++stage) {
    const auto now = static_cast<LifecycleStage>(stage);
    for_params(members, [&](ParamCell& cell) { cell.apply_deferred(now); });
    WEFTLINE_TRY(resources_.lifecycle->forward(now, members));
  }
  for (const VertexId member : members) {
    OperatorRuntime& operation = *resources_.operators[member.value];
    if (auto armed = operation.arm_source(); !armed) {
      return make_unexpected(RunDiagnostic{operation.record().path, std::move(armed).error()});
    }
  }
  return {};
}

void RestartRunner::exchange(Members members) noexcept {
  for (std::size_t index = 0; index < others_.size(); ++index) {
    resources_.operators[members[index].value]->exchange(others_[index]);
  }
}

RestartRunner::Outcome RestartRunner::roll_back(Members members, LifecycleStage from,
                                                RunDiagnostic why) {
  const auto failed = [&] {
    return Outcome{State::kFailedStopped, std::move(why.place), std::move(why.error)};
  };
  if (resources_.control.stopping()) return failed();
  take_down(members, from);
  for_params(members, [](ParamCell& cell) { cell.revert_deferred(); });
  exchange(members);
  if (resources_.control.stopping() || !bring_up(members, from)) return failed();
  return {State::kRolledBack, std::move(why.place), std::move(why.error)};
}

expected<void, RunDiagnostic> RestartRunner::rebind_imports() {
  for (ImportRuntime* import : rebound_) {
    auto rebound = import->rebind();
    if (!rebound) {
      return make_unexpected(
          RunDiagnostic{"endpoint " + import->name(), std::move(rebound).error()});
    }
  }
  return {};
}

void RestartRunner::commit(Members members) noexcept {
  for (const VertexId member : members) resources_.operators[member.value]->begin_epoch();
  const auto forget = [&](PortRef target) {
    if (holds(members, target.vertex)) return;
    resources_.operators[target.vertex.value]->forget(target.port);
  };
  for (const PayloadEdgePlanRecord& edge : resources_.plan.payload_edges()) {
    if (holds(members, edge.source.vertex)) forget(edge.target);
  }
  for (const ImportEdgePlanRecord& edge : resources_.plan.import_edges()) {
    const bool rebound = std::ranges::any_of(rebound_, [&](const ImportRuntime* import) {
      return import->name() == edge.endpoint_name;
    });
    if (rebound) forget(edge.target);
  }
}

}  // namespace weftline::runtime
