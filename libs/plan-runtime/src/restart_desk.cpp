// SPDX-License-Identifier: Apache-2.0
#include "restart_desk.hpp"

#include <algorithm>
#include <utility>

#include "weftline/runtime/lifecycle_control.hpp"

namespace weftline::runtime {
namespace {

bool waits_on_source(const OperatorPlanRecord& op) { return !op.sources.empty(); }

}  // namespace

/// Reads a transaction under its desk's mutex.
class RestartDesk::Receipt final : public ReceiptSource {
 public:
  Receipt(std::shared_ptr<const RestartDesk> desk,
          std::shared_ptr<const RestartTransaction> transaction)
      : desk_(std::move(desk)), transaction_(std::move(transaction)) {}
  /// Of a request that the transaction of an earlier one takes along.
  Receipt(std::shared_ptr<const RestartDesk> desk,
          std::shared_ptr<const RestartTransaction> transaction, std::uint64_t id,
          std::string reason)
      : desk_(std::move(desk)),
        transaction_(std::move(transaction)),
        coalesced_id_(id),
        reason_(std::move(reason)) {}

  ReceiptView view() const override {
    const std::lock_guard lock(desk_->mutex_);
    ReceiptView view = transaction_->view;
    if (coalesced_id_ == 0) return view;
    view.coalesced_into = view.transaction_id;
    view.transaction_id = coalesced_id_;
    view.reason = reason_;
    if (view.state == LifecycleTransactionState::kRequested) {
      view.state = LifecycleTransactionState::kCoalesced;
    }
    return view;
  }
  bool wait_until(std::chrono::steady_clock::time_point deadline) const override {
    std::unique_lock lock(desk_->mutex_);
    return desk_->changed_.wait_until(lock, deadline,
                                      [this] { return is_final(transaction_->view.state); });
  }

 private:
  const std::shared_ptr<const RestartDesk> desk_;
  const std::shared_ptr<const RestartTransaction> transaction_;
  const std::uint64_t coalesced_id_{0};
  const std::string reason_{};
};

RestartDesk::RestartDesk(const PlanRecords& plan, Parker& controller)
    : enabled_(plan.lifecycle.transactions.has_value()), controller_(&controller) {
  for (const OperatorPlanRecord& op : plan.operators) operators_.emplace(op.path, op.id);
  if (!enabled_) return;
  max_pending_ = plan.lifecycle.transactions->max_pending_requests;
  for (const RestartGrantRecord& grant : plan.lifecycle.restart_grants) {
    if (grant.disposition != LifecycleRestartDisposition::kAdmitted) continue;
    const auto closure = std::ranges::find(plan.lifecycle.restart_closures, grant.target,
                                           &RestartClosureRecord::target);
    if (closure == plan.lifecycle.restart_closures.end()) continue;
    const bool binds = std::ranges::any_of(closure->members, [&](VertexId member) {
      return waits_on_source(plan.operators[member.value]);
    });
    grants_[{grant.target, grant.requester}] = {.earliest = grant.effective_stage,
                                                .binds_sources = binds};
  }
}

expected<void, Error> RestartDesk::admit(VertexId requester, std::string_view target,
                                         const LifecycleRestartOptions& options,
                                         RestartTransaction& transaction) const {
  if (!enabled_) {
    return fail(ErrorCode::kNotSupported, "RESTART_DISABLED",
                "this plan has no restarts; set CompileOptions::lifecycle_transactions");
  }
  const auto found = operators_.find(target);
  if (found == operators_.end()) {
    return fail(ErrorCode::kNotFound, "RESTART_TARGET_UNKNOWN",
                "the plan has no operator " + std::string(target) + "; give its whole path");
  }
  const auto grant = grants_.find({found->second, requester});
  if (grant == grants_.end()) {
    return fail(ErrorCode::kPermissionDenied, "RESTART_NOT_GRANTED",
                requester.valid()
                    ? "the graph grants the operator that asks no restart of " +
                          std::string(target) + "; see Graph::grant_restart()"
                    : "the graph allows nobody outside to restart " + std::string(target) +
                          "; see Graph::allow_external_restart()");
  }
  const LifecycleStage earliest = grant->second.earliest;
  const LifecycleStage asked = options.from_stage.value_or(earliest);
  if (!is_lifecycle_forward_stage(asked)) {
    return fail(ErrorCode::kInvalidArgument, "RESTART_STAGE_INVALID",
                "a restart begins with configure, discover, allocate, arm or start");
  }
  if (asked < earliest) {
    return fail(ErrorCode::kPermissionDenied, "RESTART_STAGE_NOT_ADMITTED",
                "a restart from " + std::string(lifecycle_stage_name(asked)) +
                    " was asked for, the grant begins with " +
                    std::string(lifecycle_stage_name(earliest)));
  }
  transaction.target = found->second;
  transaction.place = found->first;
  transaction.view.effective_stage =
      grant->second.binds_sources ? std::min(asked, LifecycleStage::kArm) : asked;
  transaction.view.reason = options.reason;
  return {};
}

LifecycleReceipt RestartDesk::request(VertexId requester, std::string_view target,
                                      const LifecycleRestartOptions& options) {
  const auto transaction = std::make_shared<RestartTransaction>();
  auto admitted = admit(requester, target, options, *transaction);

  const std::lock_guard lock(mutex_);
  const auto reject = [&](Error error) {
    ++counters_.rejected;
    transaction->view.state = LifecycleTransactionState::kRejected;
    transaction->view.error = std::move(error);
    return LifecycleReceipt(std::make_shared<Receipt>(shared_from_this(), transaction));
  };
  if (!admitted) return reject(std::move(admitted).error());
  if (controller_ == nullptr) {
    return reject(
        {ErrorCode::kClosed, "RESTART_SESSION_ENDING", "the session ends or has ended", 0});
  }
  const auto same = std::ranges::find(pending_, transaction->target,
                                      [](const auto& waiting) { return waiting->target; });
  if (same != pending_.end()) {
    ReceiptView& view = (*same)->view;
    view.effective_stage = std::min(view.effective_stage, transaction->view.effective_stage);
    ++counters_.coalesced;
    return LifecycleReceipt(
        std::make_shared<Receipt>(shared_from_this(), *same, ++last_id_, transaction->view.reason));
  }
  if (pending_.size() >= max_pending_) {
    return reject({ErrorCode::kResourceExhausted, "RESTART_PENDING_FULL",
                   std::to_string(pending_.size()) +
                       " restarts wait already; raise "
                       "CompileOptions::lifecycle_transactions->max_pending_requests",
                   0});
  }
  transaction->view.transaction_id = ++last_id_;
  pending_.push_back(transaction);
  // Under the mutex: after close() the controller's parker may be gone.
  controller_->wake();
  return LifecycleReceipt(std::make_shared<Receipt>(shared_from_this(), transaction));
}

std::shared_ptr<RestartTransaction> RestartDesk::take() {
  const std::lock_guard lock(mutex_);
  if (pending_.empty()) return nullptr;
  auto oldest = std::move(pending_.front());
  pending_.pop_front();
  return oldest;
}

void RestartDesk::begin(RestartTransaction& transaction, std::uint64_t generation) {
  const std::lock_guard lock(mutex_);
  transaction.view.candidate_generation = generation;
  transaction.view.state = LifecycleTransactionState::kQuiescing;
}

void RestartDesk::advance(RestartTransaction& transaction, LifecycleTransactionState state) {
  const std::lock_guard lock(mutex_);
  transaction.view.state = state;
}

void RestartDesk::finish(RestartTransaction& transaction, LifecycleTransactionState state,
                         Error error, std::uint64_t duration_ns) {
  const std::lock_guard lock(mutex_);
  transaction.view.state = state;
  transaction.view.error = std::move(error);
  if (state == LifecycleTransactionState::kCommitted) ++counters_.committed;
  if (state == LifecycleTransactionState::kRolledBack) ++counters_.rolled_back;
  if (state == LifecycleTransactionState::kFailedStopped) ++counters_.failed_stopped;
  if (state == LifecycleTransactionState::kRejected) ++counters_.rejected;
  if (state != LifecycleTransactionState::kRejected) counters_.last_duration_ns = duration_ns;
  changed_.notify_all();
}

void RestartDesk::close() {
  const std::lock_guard lock(mutex_);
  controller_ = nullptr;
  for (const auto& transaction : pending_) {
    ++counters_.rejected;
    transaction->view.state = LifecycleTransactionState::kRejected;
    transaction->view.error = {ErrorCode::kClosed, "RESTART_SESSION_ENDING",
                               "the session ended before it was this request's turn", 0};
  }
  pending_.clear();
  changed_.notify_all();
}

RestartCounters RestartDesk::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace weftline::runtime

namespace weftline {

LifecycleReceipt LifecycleControlHandle::request_restart(
    std::string_view operator_path, const LifecycleRestartOptions& options) const {
  return desk_->request(VertexId{}, operator_path, options);
}

}  // namespace weftline
