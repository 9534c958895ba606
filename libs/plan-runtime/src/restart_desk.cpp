// SPDX-License-Identifier: Apache-2.0
#include "restart_desk.hpp"

#include <algorithm>
#include <utility>

#include "weftline/runtime/lifecycle_control.hpp"

namespace weftline::runtime {
namespace {

using State = LifecycleTransactionState;

bool waits_on_source(const OperatorPlanRecord& op) { return !op.sources.empty(); }

/// What a receipt keeps of a reason; no character is cut in two.
std::string_view kept_of(std::string_view reason) noexcept {
  if (reason.size() <= kMaximumRestartReason) return reason;
  std::size_t length = kMaximumRestartReason;
  while (length > 0 && (static_cast<unsigned char>(reason[length]) & 0xc0U) == 0x80U) --length;
  return reason.substr(0, length);
}

}  // namespace

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
    Grant& admitted = grants_[{grant.target, grant.requester}];
    admitted.earliest = grant.effective_stage;
    admitted.binds_sources = std::ranges::any_of(closure->members, [&](VertexId member) {
      return waits_on_source(plan.operators[member.value]);
    });
    if (!grant.requester.valid()) continue;
    admitted.box =
        &boxes_.emplace_back(board_, grant.target, plan.operators[grant.target.value].path);
    boxes_by_requester_[grant.requester].push_back(admitted.box);
  }
}

expected<RestartDesk::Admission, Error> RestartDesk::admit(
    VertexId requester, std::string_view target,
    std::optional<LifecycleStage> asked) const noexcept {
  if (!enabled_) return fail(ErrorCode::kNotSupported, "RESTART_DISABLED");
  VertexId vertex = requester;
  if (!target.empty() || !requester.valid()) {
    const auto found = operators_.find(target);
    if (found == operators_.end()) return fail(ErrorCode::kNotFound, "RESTART_TARGET_UNKNOWN");
    vertex = found->second;
  }
  const auto grant = grants_.find({vertex, requester});
  if (grant == grants_.end()) return fail(ErrorCode::kPermissionDenied, "RESTART_NOT_GRANTED");
  const LifecycleStage earliest = grant->second.earliest;
  const LifecycleStage stage = asked.value_or(earliest);
  if (!is_lifecycle_forward_stage(stage)) {
    return fail(ErrorCode::kInvalidArgument, "RESTART_STAGE_INVALID");
  }
  if (stage < earliest) return fail(ErrorCode::kPermissionDenied, "RESTART_STAGE_NOT_ADMITTED");
  return Admission{&grant->second, vertex,
                   grant->second.binds_sources ? std::min(stage, LifecycleStage::kArm) : stage};
}

std::string RestartDesk::explain(std::string_view token, std::string_view target,
                                 const LifecycleRestartOptions& options) const {
  const std::string path(target);
  if (token == "RESTART_DISABLED") {
    return "this plan has no restarts; set CompileOptions::lifecycle_transactions";
  }
  if (token == "RESTART_TARGET_UNKNOWN") {
    return "the plan has no operator " + path + "; give its whole path";
  }
  if (token == "RESTART_NOT_GRANTED") {
    return "the graph allows nobody outside to restart " + path +
           "; see Graph::allow_external_restart()";
  }
  if (token == "RESTART_STAGE_INVALID") {
    return "a restart begins with configure, discover, allocate, warm_up, arm or start";
  }
  const LifecycleStage earliest = grants_.at({operators_.find(target)->second, {}}).earliest;
  return "a restart from " +
         std::string(lifecycle_stage_name(options.from_stage.value_or(earliest))) +
         " was asked for, the grant begins with " + std::string(lifecycle_stage_name(earliest));
}

LifecycleReceipt RestartDesk::request(std::string_view target,
                                      const LifecycleRestartOptions& options) {
  const auto receipt = std::make_shared<RestartReceipt>(board_);
  receipt->reason = options.reason;
  RestartTransaction& transaction = *receipt->transaction;
  ReceiptView& view = transaction.view;
  view.reason = options.reason;
  auto admitted = admit({}, target, options.from_stage);

  const std::lock_guard lock(board_->mutex);
  const auto reject = [&](Error error) {
    ++counters_.rejected;
    view.state = State::kRejected;
    view.error = std::move(error);
    return LifecycleReceipt(receipt);
  };
  if (!admitted) {
    Error error = std::move(admitted).error();
    error.message = explain(error.token, target, options);
    return reject(std::move(error));
  }
  transaction.target = admitted->target;
  transaction.place = target;
  view.effective_stage = admitted->stage;
  if (controller_ == nullptr) {
    return reject(
        {ErrorCode::kClosed, "RESTART_SESSION_ENDING", "the session ends or has ended", 0});
  }
  empty_boxes();
  if (auto earlier = waiting_for(admitted->target)) {
    earlier->view.effective_stage = std::min(earlier->view.effective_stage, admitted->stage);
    ++counters_.coalesced;
    receipt->id = ++last_id_;
    receipt->transaction = std::move(earlier);
    return LifecycleReceipt(receipt);
  }
  if (!add_waiting()) {
    return reject({ErrorCode::kResourceExhausted, "RESTART_PENDING_FULL",
                   std::to_string(pending_.size()) +
                       " restarts wait already; raise "
                       "CompileOptions::lifecycle_transactions->max_pending_requests",
                   0});
  }
  receipt->id = ++last_id_;
  view.transaction_id = receipt->id;
  pending_.push_back(receipt->transaction);
  // Under the mutex: after close() the controller's parker may be gone.
  controller_->wake();
  return LifecycleReceipt(receipt);
}

expected<LifecycleReceipt, Error> RestartDesk::ask(VertexId requester,
                                                   const RestartRequest& request) noexcept {
  const auto refuse = [this](Error error) {
    refused_on_lanes_.fetch_add(1, std::memory_order_relaxed);
    return make_unexpected(std::move(error));
  };
  auto admitted = admit(requester, request.target, request.from_stage);
  if (!admitted) return refuse(std::move(admitted).error());
  RestartBox& box = *admitted->grant->box;
  if (!box.free()) return refuse({ErrorCode::kBackpressured, "RESTART_ALREADY_PENDING", {}, 0});
  if (!add_waiting()) return refuse({ErrorCode::kResourceExhausted, "RESTART_PENDING_FULL", {}, 0});
  return box.ask(++last_id_, admitted->stage, kept_of(request.reason));
}

std::span<const RestartBox* const> RestartDesk::boxes_of(VertexId requester) const noexcept {
  const auto found = boxes_by_requester_.find(requester);
  if (found == boxes_by_requester_.end()) return {};
  return found->second;
}

bool RestartDesk::add_waiting() noexcept {
  std::uint32_t waiting = waiting_.load(std::memory_order_relaxed);
  while (waiting < max_pending_) {
    if (waiting_.compare_exchange_weak(waiting, waiting + 1, std::memory_order_relaxed))
      return true;
  }
  return false;
}

std::shared_ptr<RestartTransaction> RestartDesk::waiting_for(VertexId target) const {
  const auto found = std::ranges::find(pending_, target, &RestartTransaction::target);
  return found != pending_.end() ? *found : nullptr;
}

void RestartDesk::empty_boxes() {
  for (RestartBox& box : boxes_) {
    RestartReceipt* const receipt = box.take();
    if (receipt == nullptr) continue;
    const auto& own = receipt->transaction;
    if (auto earlier = waiting_for(own->target)) {
      ReceiptView& view = earlier->view;
      view.effective_stage = std::min(view.effective_stage, own->view.effective_stage);
      receipt->transaction = std::move(earlier);
      ++counters_.coalesced;
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      continue;
    }
    const auto id = [](const auto& each) { return each->view.transaction_id; };
    pending_.insert(std::ranges::upper_bound(pending_, receipt->id, {}, id), own);
  }
}

std::shared_ptr<RestartTransaction> RestartDesk::take() {
  const std::lock_guard lock(board_->mutex);
  empty_boxes();
  if (pending_.empty()) return nullptr;
  auto oldest = std::move(pending_.front());
  pending_.pop_front();
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return oldest;
}

void RestartDesk::begin(RestartTransaction& transaction, std::uint64_t generation) {
  const std::lock_guard lock(board_->mutex);
  transaction.view.candidate_generation = generation;
  transaction.view.state = State::kQuiescing;
}

void RestartDesk::advance(RestartTransaction& transaction, State state) {
  const std::lock_guard lock(board_->mutex);
  transaction.view.state = state;
}

void RestartDesk::finish(RestartTransaction& transaction, State state, Error error,
                         std::uint64_t duration_ns) {
  const std::lock_guard lock(board_->mutex);
  transaction.view.state = state;
  transaction.view.error = std::move(error);
  if (state == State::kCommitted) ++counters_.committed;
  if (state == State::kRolledBack) ++counters_.rolled_back;
  if (state == State::kFailedStopped) ++counters_.failed_stopped;
  if (state == State::kRejected) ++counters_.rejected;
  if (state != State::kRejected) counters_.last_duration_ns = duration_ns;
  for (RestartBox& box : boxes_) box.settle(transaction);
  board_->changed.notify_all();
}

void RestartDesk::close() {
  const std::lock_guard lock(board_->mutex);
  controller_ = nullptr;
  empty_boxes();
  for (const auto& transaction : pending_) {
    ++counters_.rejected;
    transaction->view.state = State::kRejected;
    transaction->view.error = {ErrorCode::kClosed, "RESTART_SESSION_ENDING",
                               "the session ended before it was this request's turn", 0};
  }
  pending_.clear();
  board_->changed.notify_all();
}

RestartCounters RestartDesk::counters() const {
  const std::lock_guard lock(board_->mutex);
  RestartCounters counters = counters_;
  counters.rejected += refused_on_lanes_.load(std::memory_order_relaxed);
  return counters;
}

}  // namespace weftline::runtime

namespace weftline {

LifecycleReceipt LifecycleControlHandle::request_restart(
    std::string_view operator_path, const LifecycleRestartOptions& options) const {
  return desk_->request(operator_path, options);
}

}  // namespace weftline
