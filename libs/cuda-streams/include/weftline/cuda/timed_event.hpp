// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "weftline/cuda/event.hpp"

namespace weftline {

/// Owns one event that also takes the time when the stream reaches it; see `Device::elapsed()`.
/// Recording and querying it costs a device more than an `Event`, so it orders nothing on the path
/// of a frame. `ref()` goes wherever an event goes.
class TimedEvent {
 public:
  TimedEvent() noexcept = default;

  [[nodiscard]] EventRef ref() const noexcept { return event_.ref(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(event_); }

 private:
  friend class Device;
  explicit TimedEvent(Event event) noexcept : event_(std::move(event)) {}

  Event event_{};
};

}  // namespace weftline
