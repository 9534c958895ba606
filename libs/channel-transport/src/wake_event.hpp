// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "unique_fd.hpp"
#include "weftline/core/error.hpp"

namespace weftline::channel {

/// An eventfd: stays signalled until drained. Neither signalling nor draining blocks.
class WakeEvent {
 public:
  WakeEvent() noexcept = default;  ///< Empty: signal and drain do nothing.
  /// Takes a received descriptor; anything but an eventfd is refused.
  [[nodiscard]] static expected<WakeEvent, Error> adopt(UniqueFd fd);
  [[nodiscard]] static expected<WakeEvent, Error> create();

  void signal() const noexcept;
  void drain() const noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  explicit WakeEvent(UniqueFd fd) noexcept : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

/// Sleeps until one of two events is signalled or the deadline has passed. `second` may be null.
void sleep_until_signal(const WakeEvent& first, const WakeEvent* second,
                        std::chrono::steady_clock::time_point deadline) noexcept;

}  // namespace weftline::channel
