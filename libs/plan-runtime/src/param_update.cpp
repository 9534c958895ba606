// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/param_update.hpp"

#include <mutex>

#include "param_record.hpp"

namespace weftline {

std::string_view param_update_status_name(ParamUpdateStatus status) noexcept {
  switch (status) {
    case ParamUpdateStatus::kAccepted:
      return "accepted";
    case ParamUpdateStatus::kAcceptedNoChange:
      return "accepted_no_change";
    case ParamUpdateStatus::kSubmitted:
      return "submitted";
    case ParamUpdateStatus::kRejected:
      return "rejected";
    case ParamUpdateStatus::kDeferred:
      return "deferred";
    case ParamUpdateStatus::kUpdatesDisabled:
      return "updates_disabled";
    case ParamUpdateStatus::kOutOfBounds:
      return "out_of_bounds";
    case ParamUpdateStatus::kValidationFailed:
      return "validation_failed";
    case ParamUpdateStatus::kTypeMismatch:
      return "type_mismatch";
    case ParamUpdateStatus::kNotFound:
      return "not_found";
    case ParamUpdateStatus::kNotMutable:
      return "not_mutable";
    case ParamUpdateStatus::kGenerationMismatch:
      return "generation_mismatch";
    case ParamUpdateStatus::kPermissionDenied:
      return "permission_denied";
    case ParamUpdateStatus::kClosed:
      return "closed";
  }
  return "unknown";
}

std::string_view param_update_state_name(ParamUpdateState state) noexcept {
  switch (state) {
    case ParamUpdateState::kSubmitted:
      return "submitted";
    case ParamUpdateState::kRejected:
      return "rejected";
    case ParamUpdateState::kAccepted:
      return "accepted";
    case ParamUpdateState::kQuiescing:
      return "quiescing";
    case ParamUpdateState::kRestarting:
      return "restarting";
    case ParamUpdateState::kAcceptedNoChange:
      return "accepted_no_change";
    case ParamUpdateState::kPublished:
      return "published";
    case ParamUpdateState::kObserved:
      return "observed";
    case ParamUpdateState::kSuperseded:
      return "superseded";
    case ParamUpdateState::kClosed:
      return "closed";
  }
  return "unknown";
}

ParamUpdateState ParamUpdateReceipt::state() const noexcept {
  return record_ ? record_->current() : ParamUpdateState::kRejected;
}

std::optional<std::uint64_t> ParamUpdateReceipt::generation() const noexcept {
  if (!record_) return std::nullopt;
  const std::uint64_t made = record_->generation.load(std::memory_order_acquire);
  return made == 0 ? std::nullopt : std::optional(made);
}

namespace runtime {

ParamUpdateState ParamUpdateRecord::current() const noexcept {
  // Before the progress: it no longer moves once this is set.
  const bool ended = progress->ended.load(std::memory_order_acquire);
  ParamUpdateState seen = state.load(std::memory_order_acquire);
  const bool awaits_restart = seen == ParamUpdateState::kSubmitted ||
                              seen == ParamUpdateState::kQuiescing ||
                              seen == ParamUpdateState::kRestarting;
  if (awaits_restart) return ended ? ParamUpdateState::kClosed : seen;
  if (seen != ParamUpdateState::kAccepted) return seen;

  const std::uint64_t own = generation.load(std::memory_order_acquire);
  if (progress->taken.load(std::memory_order_acquire) < own) {
    return ended ? ParamUpdateState::kClosed : ParamUpdateState::kAccepted;
  }
  const std::lock_guard lock(progress->mutex);
  seen = state.load(std::memory_order_relaxed);
  if (seen != ParamUpdateState::kAccepted) return seen;
  if (progress->observed.load(std::memory_order_acquire) >= own) {
    state.store(ParamUpdateState::kObserved, std::memory_order_release);
    return ParamUpdateState::kObserved;
  }
  return ended ? ParamUpdateState::kClosed : ParamUpdateState::kPublished;
}

}  // namespace runtime
}  // namespace weftline
