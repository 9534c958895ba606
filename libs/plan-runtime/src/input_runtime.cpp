// SPDX-License-Identifier: Apache-2.0
#include "input_runtime.hpp"

#include "weftline/tensor/tensor.hpp"

namespace weftline::runtime {

InputRuntime::InputRuntime(const Options& options)
    : queue_(*options.record, *options.ops),
      stream_(options.stream),
      selection_(options.selection),
      scope_(*options.scope),
      selector_(selection_.triggering ? nullptr : make_selector(selection_, *options.ops)),
      held_(*options.ops, selection_.pending_cache),
      last_(*options.ops, selection_.reuse_cache) {
  selected_.numbers.reserve(selection_.max_selected_samples);
}

expected<void, Error> InputRuntime::hold_head() noexcept { return queue_.move_head_to(held_); }

void InputRuntime::select_held() noexcept {
  selected_.cache = &held_;
  selected_.kept = false;
  selected_.numbers.push_back(held_.number_of(0));
  found(1);
}

expected<void, Error> InputRuntime::select_side(std::int64_t reference_ns) noexcept {
  selected_.reason = SelectionReason::kNothing;
  WEFTLINE_TRY(selector_->select(queue_, reference_ns, selected_));
  status_ = {InputState::kNotSelected, selected_.reason, 0};
  if (selected_.reason != SelectionReason::kFound) return {};
  const bool queued = selected_.cache == nullptr;
  found(queued ? 1 : static_cast<std::uint32_t>(selected_.numbers.size()));
  return {};
}

expected<bool, Error> InputRuntime::settle() noexcept {
  if (fresh() || !selection_.missing) return true;
  switch (*selection_.missing) {
    case MissingDataKind::kSkip:
      skips_.add();
      return false;
    case MissingDataKind::kReuseLast:
      if (last_.empty() || reuses_in_a_row_ == selection_.max_reuses) {
        skips_.add();
        return false;
      }
      for (std::uint32_t index = 0; index < last_.size(); ++index) {
        selected_.numbers.push_back(last_.number_of(index));
      }
      selected_.cache = &last_;
      selected_.kept = true;
      status_ = {InputState::kReused, status_.reason, last_.size()};
      received_ = false;
      return true;
    case MissingDataKind::kSafeDefault:
      status_.state = InputState::kSafeDefault;
      return true;
    case MissingDataKind::kAbsent:
      status_.state = InputState::kAbsent;
      return true;
    case MissingDataKind::kFail:
      break;
  }
  return fail(ErrorCode::kNotReady, "RUN_SAMPLE_MISSING",
              "an activation found no sample on input " + name() +
                  ", whose policy is Fail; feed it in time, or choose another policy");
}

expected<void, Error> InputRuntime::give(const void* value, const SampleMetadata& metadata,
                                         const FlowStamp* stamp) noexcept {
  if (queue_.ops().is_tensor) {
    const auto& tensor = *static_cast<const Tensor*>(value);
    const std::int64_t began = probe_ != nullptr ? probe_->begin_prepare(tensor) : 0;
    WEFTLINE_TRY(tensor.prepare_for_consumer(stream_));
    if (probe_ != nullptr) probe_->end_prepare(port_, stream_, began);
  }
  if (probe_ != nullptr) probe_->receive(port_, metadata.sequence, stamp);
  return {};
}

expected<void, Error> InputRuntime::prepare() noexcept {
  if (status_.count == 0) return {};
  if (selected_.cache == nullptr) {
    const EdgeQueue::Front front = queue_.front();
    WEFTLINE_TRY(give(front.value, *front.metadata, queue_.front_stamp()));
    queue_.note_head_taken();
  } else {
    SampleCache& cache = *selected_.cache;
    for (const std::uint32_t number : selected_.numbers) {
      if (cache.given(number)) continue;
      WEFTLINE_TRY(give(cache.value(number), cache.metadata(number), &cache.stamp(number)));
      cache.mark_given(number);
    }
  }
  if (selection_.missing == MissingDataKind::kReuseLast) remember();
  return {};
}

void InputRuntime::remember() noexcept {
  if (!fresh()) {
    ++reuses_in_a_row_;
    reused_.add();
    return;
  }
  reuses_in_a_row_ = 0;
  last_.clear();
  if (selected_.cache == nullptr) {
    const EdgeQueue::Front front = queue_.front();
    last_.push_back(front.value, false, *front.metadata);
    last_.mark_given(last_.number_of(0));
    return;
  }
  for (const std::uint32_t number : selected_.numbers) {
    last_.push_back(selected_.cache->value(number), false, selected_.cache->metadata(number));
    last_.mark_given(last_.number_of(last_.size() - 1));
  }
}

void InputRuntime::finish(bool ran) noexcept {
  if (status_.count == 0 && !selector_) {
    status_ = {};
    return;
  }
  const bool was_fresh = fresh();
  if (ran && !received_) unread_.add(status_.count);
  if (was_fresh && selected_.cache == nullptr) {
    if (!ran) {
      queue_.pass_over();
    } else if (!received_) {
      queue_.pop();
    }
  } else if (was_fresh && selected_.cache == &held_) {
    queue_.drop_front(held_);
  }
  if (selector_) selector_->finish(queue_);
  selected_.numbers.clear();
  status_ = {};
}

void InputRuntime::clear() noexcept {
  if (selector_) selector_->clear(queue_);
  queue_.drop_all(held_);
  last_.clear();
}

expected<void, Error> InputRuntime::refusal(SelectionCardinality asked) noexcept {
  if (!scope_.here()) return fail(ErrorCode::kInvalidArgument, kTokenOutsideCompute);
  if (status_.count == 0) {
    return queue_.exhausted() ? fail(ErrorCode::kClosed, "PORT_ENDED")
                              : fail(ErrorCode::kNotReady, "PORT_NOT_SELECTED");
  }
  if (asked != selection_.cardinality) {
    return fail(ErrorCode::kInvalidArgument, "PORT_CARDINALITY");
  }
  return fail(ErrorCode::kNotReady, "PORT_RECEIVED");
}

expected<void, Error> InputRuntime::receive(void* value, SampleMetadata& metadata) noexcept {
  const bool given = scope_.here() && status_.count == 1 && !received_ &&
                     selection_.cardinality == SelectionCardinality::kOne;
  if (!given) return refusal(SelectionCardinality::kOne);
  received_ = true;
  const PayloadOps& ops = queue_.ops();
  if (selected_.cache == nullptr) {
    const EdgeQueue::Front front = queue_.front();
    ops.move_assign(value, front.value);
    metadata = *front.metadata;
    queue_.pop();
    return {};
  }
  const std::uint32_t number = selected_.numbers.front();
  metadata = selected_.cache->metadata(number);
  if (selected_.kept) {
    ops.destroy(value);
    ops.copy_construct(value, selected_.cache->value(number));
  } else {
    ops.move_assign(value, selected_.cache->value(number));
  }
  return {};
}

expected<SampleCells, Error> InputRuntime::receive_batch() noexcept {
  const bool given =
      scope_.here() && status_.count > 0 && selection_.cardinality == SelectionCardinality::kBatch;
  if (!given) return forward_error(refusal(SelectionCardinality::kBatch));
  received_ = true;
  return selected_.cache->cells(selected_.numbers);
}

}  // namespace weftline::runtime
