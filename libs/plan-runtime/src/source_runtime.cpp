// SPDX-License-Identifier: Apache-2.0
#include "source_runtime.hpp"

#include <fcntl.h>

#include <utility>

namespace weftline::runtime {

SourceRuntime::SourceRuntime(const SourcePlanRecord& record, ReadinessWake wake)
    : record_(record), wake_(std::move(wake)) {
  reset();
}

void SourceRuntime::reset() {
  notifications_ = std::make_shared<NotificationChannel>(record_.capacity,
                                                         record_.sender_reference_capacity, wake_);
  bell_ = std::make_shared<DoorbellChannel>(wake_);
  descriptor_ = -1;
  probe_ = {};
  bound_ = false;
  armed_ = false;
}

expected<void, Error> SourceRuntime::bindable(bool twice) const {
  if (armed_) {
    return fail(ErrorCode::kInvalidArgument, "SOURCE_BOUND_LATE",
                "source " + name() + " is bound while its operator starts, not later");
  }
  if (twice && bound_) {
    return fail(ErrorCode::kInvalidArgument, "SOURCE_BOUND_TWICE",
                "source " + name() + " is bound already; bind it once");
  }
  return {};
}

expected<NotificationSender, Error> SourceRuntime::sender() {
  WEFTLINE_TRY(bindable(false));
  if (!notifications_->add_sender()) {
    return fail(ErrorCode::kResourceExhausted, "SOURCE_SENDERS_EXHAUSTED",
                "source " + name() + " has its " +
                    std::to_string(record_.sender_reference_capacity) +
                    " senders; raise its sender_reference_capacity()");
  }
  bound_ = true;
  return NotificationSender(notifications_);
}

expected<Doorbell, Error> SourceRuntime::doorbell() {
  WEFTLINE_TRY(bindable(false));
  bound_ = true;
  return Doorbell(bell_);
}

expected<void, Error> SourceRuntime::bind(int descriptor) {
  WEFTLINE_TRY(bindable(true));
  if (descriptor < 0 || ::fcntl(descriptor, F_GETFD) == -1) {
    return fail(ErrorCode::kInvalidArgument, "SOURCE_DESCRIPTOR_INVALID",
                "source " + name() + " was given the descriptor " + std::to_string(descriptor) +
                    ", which is not open");
  }
  descriptor_ = descriptor;
  bound_ = true;
  return {};
}

expected<void, Error> SourceRuntime::bind(SpinProbe probe) {
  WEFTLINE_TRY(bindable(true));
  if (probe.look == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "SOURCE_PROBE_INVALID",
                "source " + name() + " was given a probe without a function");
  }
  probe_ = probe;
  bound_ = true;
  return {};
}

expected<void, Error> SourceRuntime::arm() noexcept {
  if (!bound_) {
    return fail(ErrorCode::kInvalidArgument, "SOURCE_UNBOUND",
                "the operator waits for its source " + name() +
                    ", but its start() has bound nothing to it: nothing would ever make it run");
  }
  armed_ = true;
  return {};
}

void SourceRuntime::close() noexcept {
  notifications_->close();
  bell_->close();
}

}  // namespace weftline::runtime
