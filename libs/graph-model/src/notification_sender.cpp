// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/notification_sender.hpp"

namespace weftline {
namespace {

/// Adds one unless the count has reached `limit`.
bool add_below(std::atomic<std::uint32_t>& count, std::uint32_t limit) noexcept {
  std::uint32_t seen = count.load(std::memory_order_relaxed);
  while (seen < limit) {
    if (count.compare_exchange_weak(seen, seen + 1, std::memory_order_seq_cst,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

}  // namespace

expected<void, Error> NotificationChannel::notify() noexcept {
  if (closed_.load(std::memory_order_relaxed)) return fail(ErrorCode::kClosed, "SOURCE_CLOSED");
  if (!add_below(outstanding_, capacity_)) {
    return fail(ErrorCode::kBackpressured, "SOURCE_NOTIFICATIONS_FULL");
  }
  wake_();
  return {};
}

expected<void, Error> NotificationChannel::add_sender() noexcept {
  if (add_below(senders_, sender_capacity_)) return {};
  return fail(ErrorCode::kResourceExhausted, "SOURCE_SENDERS_EXHAUSTED");
}

NotificationSender& NotificationSender::operator=(NotificationSender&& other) noexcept {
  std::swap(channel_, other.channel_);
  return *this;
}

NotificationSender::~NotificationSender() {
  if (channel_) channel_->drop_sender();
}

expected<NotificationSender, Error> NotificationSender::copy() const noexcept {
  WEFTLINE_TRY(channel_->add_sender());
  return NotificationSender(channel_);
}

}  // namespace weftline
