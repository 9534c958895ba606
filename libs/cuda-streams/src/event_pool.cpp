// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/event_pool.hpp"

#include <optional>
#include <vector>

#include "free_indices.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline {

class PooledEvent::Events {
 public:
  explicit Events(std::vector<Event> events)
      : events_(std::move(events)), free_(static_cast<std::uint32_t>(events_.size())) {}

  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(events_.size());
  }
  [[nodiscard]] EventRef at(std::uint32_t index) const noexcept { return events_[index].ref(); }
  [[nodiscard]] cuda_streams::FreeIndices& free() noexcept { return free_; }

 private:
  const std::vector<Event> events_;
  cuda_streams::FreeIndices free_;
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
    events->free().give_back(index_);
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
  const std::optional<std::uint32_t> index = events_->free().take();
  return index ? PooledEvent(events_, *index) : PooledEvent{};
}

std::uint32_t EventPool::size() const noexcept { return events_->size(); }

}  // namespace weftline
