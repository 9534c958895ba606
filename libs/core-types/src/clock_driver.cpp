// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/clock_driver.hpp"

#include <limits>
#include <string>
#include <utility>

namespace weftline {

expected<void, Error> ClockDriver::advance_to(std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  return advance_locked(now_ns);
}

expected<void, Error> ClockDriver::advance(std::chrono::nanoseconds step) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = now_ns_.load(std::memory_order_relaxed);
  if (step.count() > 0 && now > std::numeric_limits<std::int64_t>::max() - step.count()) {
    return fail(ErrorCode::kArithmeticOverflow, "CLOCK_EXHAUSTED",
                std::to_string(step.count()) + " ns after " + std::to_string(now) +
                    " ns is no time of 64 bits; start the driver earlier");
  }
  if (step.count() < 0) return advance_locked(std::numeric_limits<std::int64_t>::min());
  return advance_locked(now + step.count());
}

expected<void, Error> ClockDriver::advance_locked(std::int64_t now_ns) {
  const std::int64_t before = now_ns_.load(std::memory_order_relaxed);
  if (now_ns < before) {
    return fail(ErrorCode::kInvalidArgument, "CLOCK_NOT_FORWARD",
                "the clock stands at " + std::to_string(before) +
                    " ns and only goes on; give it that time or a later one");
  }
  now_ns_.store(now_ns, std::memory_order_seq_cst);
  for (const Entry& entry : listeners_) entry.listener.call(entry.listener.context);
  return {};
}

ClockDriver::Subscription ClockDriver::subscribe(Listener listener) {
  const std::lock_guard lock(mutex_);
  listeners_.push_back({next_number_, listener});
  return {*this, next_number_++};
}

ClockDriver::Subscription::Subscription(Subscription&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)), number_(other.number_) {}

ClockDriver::Subscription& ClockDriver::Subscription::operator=(Subscription&& other) noexcept {
  if (this == &other) return *this;
  end();
  driver_ = std::exchange(other.driver_, nullptr);
  number_ = other.number_;
  return *this;
}

void ClockDriver::Subscription::end() noexcept {
  if (driver_ == nullptr) return;
  const std::lock_guard lock(driver_->mutex_);
  std::erase_if(driver_->listeners_,
                [this](const Entry& entry) { return entry.number == number_; });
  driver_ = nullptr;
}

}  // namespace weftline
