// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/cuda/event.hpp"

namespace weftline {

class Device;
class EventPool;

/// An event borrowed from an `EventPool`: goes back on destruction, from any thread. Move-only;
/// empty after a move and where the pool had none left. Keeps the pool's events alive.
class PooledEvent {
 public:
  PooledEvent() noexcept = default;
  PooledEvent(PooledEvent&& other) noexcept = default;
  PooledEvent& operator=(PooledEvent&& other) noexcept;
  ~PooledEvent() { give_back(); }

  /// As any event's. Until it is recorded it stands for its record by an earlier borrower.
  [[nodiscard]] EventRef ref() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return events_ != nullptr; }

 private:
  friend class EventPool;
  class Events;
  PooledEvent(std::shared_ptr<Events> events, std::uint32_t index) noexcept
      : events_(std::move(events)), index_(index) {}
  void give_back() noexcept;

  std::shared_ptr<Events> events_{};
  std::uint32_t index_{0};
};

/// A fixed number of events, all made at the start. Taking one and giving it back allocates
/// nothing, blocks nobody, takes no lock and calls no device; both are safe from any thread.
class EventPool {
 public:
  /// Cold. An error of `Device::create_event()` is passed on; no events at all are
  /// kInvalidArgument (DEVICE_EVENT_POOL_EMPTY).
  [[nodiscard]] static expected<EventPool, Error> create(Device& device, std::uint32_t count,
                                                         const EventOptions& options = {});

  /// An empty one when all are taken.
  [[nodiscard]] PooledEvent take() noexcept;
  [[nodiscard]] std::uint32_t size() const noexcept;

 private:
  explicit EventPool(std::shared_ptr<PooledEvent::Events> events) noexcept
      : events_(std::move(events)) {}

  std::shared_ptr<PooledEvent::Events> events_;
};

}  // namespace weftline
