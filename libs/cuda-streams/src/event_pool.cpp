// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/event_pool.hpp"

#include <atomic>
#include <optional>
#include <vector>

#include "weftline/cuda/device.hpp"

namespace weftline {

/// The free events are a stack of indices. Its head carries a count of all pops, so that a thread
/// that was held up between its look and its exchange does not take a head that left and came back
/// with another successor.
class PooledEvent::Events {
 public:
  explicit Events(std::vector<Event> events) : events_(std::move(events)), next_(events_.size()) {
    for (std::uint32_t index = 0; index < size(); ++index) {
      give_back(index);
    }
  }

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(events_.size());
  }
  [[nodiscard]] EventRef at(std::uint32_t index) const noexcept { return events_[index].ref(); }

  [[nodiscard]] std::optional<std::uint32_t> take() noexcept {
    Head head = head_.load(std::memory_order_acquire);
    while (head.index != kNone) {
      const Head rest{next_[head.index].load(std::memory_order_relaxed), head.pops + 1};
      if (head_.compare_exchange_weak(head, rest, std::memory_order_acquire)) {
        return head.index;
      }
    }
    return std::nullopt;
  }
  void give_back(std::uint32_t index) noexcept {
    Head head = head_.load(std::memory_order_relaxed);
    do {
      next_[index].store(head.index, std::memory_order_relaxed);
    } while (!head_.compare_exchange_weak(head, {index, head.pops}, std::memory_order_release,
                                          std::memory_order_relaxed));
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Head {
    std::uint32_t index{kNone};
    std::uint32_t pops{0};
  };
  static_assert(std::atomic<Head>::is_always_lock_free);

  const std::vector<Event> events_;
  std::vector<std::atomic<std::uint32_t>> next_;
  std::atomic<Head> head_{};
};

PooledEvent& PooledEvent::operator=(PooledEvent&& other) noexcept {
  if (this != &other) {
    give_back();
    events_ = std::move(other.events_);
    index_ = other.index_;
  }
  return *this;
}

EventRef PooledEvent::ref() const noexcept { return events_ ? events_->at(index_) : EventRef{}; }

void PooledEvent::give_back() noexcept {
  if (const auto events = std::move(events_)) {
    events->give_back(index_);
  }
}

expected<EventPool, Error> EventPool::create(Device& device, std::uint32_t count,
                                             const EventOptions& options) {
  if (count == 0) {
    return fail(
        ErrorCode::kInvalidArgument, "DEVICE_EVENT_POOL_EMPTY",
        "a pool of 0 events was asked of " + device.id().to_string() + "; ask for at least 1.");
  }
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < count; ++i) {
    WEFTLINE_ASSIGN(Event event, device.create_event(options));
    events.push_back(std::move(event));
  }
  return EventPool(std::make_shared<PooledEvent::Events>(std::move(events)));
}

PooledEvent EventPool::take() noexcept {
  const std::optional<std::uint32_t> index = events_->take();
  return index ? PooledEvent(events_, *index) : PooledEvent{};
}

std::uint32_t EventPool::size() const noexcept { return events_->size(); }

}  // namespace weftline
