// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "unique_fd.hpp"
#include "weftline/core/error.hpp"

namespace weftline::channel {

/// An eventfd within this process: stays signalled until drained. Neither signalling nor draining
/// blocks.
class WakeEvent {
 public:
  WakeEvent() noexcept = default;  ///< Empty: signal and drain do nothing.
  [[nodiscard]] static expected<WakeEvent, Error> create();

  void signal() const noexcept;
  void drain() const noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  explicit WakeEvent(UniqueFd fd) noexcept : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

/// Sleeps until the event is signalled, the other descriptor (-1: none) is readable, or the
/// deadline has passed.
void sleep_until_signal(const WakeEvent& event, int other,
                        std::chrono::steady_clock::time_point deadline) noexcept;

}  // namespace weftline::channel
