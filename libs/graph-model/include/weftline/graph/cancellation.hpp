// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace weftline {

/// Says whether a run is to end. A copy may be handed to an operator's own threads and be asked
/// from any of them, until the operator's last lifecycle callback has returned.
class Cancellation {
 public:
  explicit Cancellation(const std::atomic<bool>& requested) noexcept : requested_(&requested) {}
  /// Set by a stop, a failure or a success asked for; never taken back, and not set by a restart.
  /// One load.
  [[nodiscard]] bool requested() const noexcept {
    return requested_->load(std::memory_order_acquire);
  }

 private:
  const std::atomic<bool>* requested_;
};

}  // namespace weftline
