// SPDX-License-Identifier: Apache-2.0
#include "lane_gate.hpp"

namespace weftline::runtime {

void LaneGate::wake_lanes() noexcept {
  for (Parker* lane : lanes_) lane->wake();
}

void LaneGate::enter() noexcept {
  const std::lock_guard lock(mutex_);
  ++inside_;
}

void LaneGate::leave() noexcept {
  const std::lock_guard lock(mutex_);
  --inside_;
  quiet_.notify_all();
}

void LaneGate::stop() noexcept {
  {
    // Under the mutex: whoever waits has looked at the word before, or looks again.
    const std::lock_guard lock(mutex_);
    word_.fetch_or(kStop, std::memory_order_seq_cst);
  }
  opened_.notify_all();
  quiet_.notify_all();
  wake_lanes();
}

bool LaneGate::pause() noexcept {
  {
    const std::lock_guard lock(mutex_);
    word_.fetch_or(kPause, std::memory_order_seq_cst);
  }
  wake_lanes();
  std::unique_lock lock(mutex_);
  quiet_.wait(lock, [this] { return inside_ == 0 || stopping(); });
  if (!stopping()) return true;
  word_.fetch_and(~kPause, std::memory_order_seq_cst);
  return false;
}

void LaneGate::resume() noexcept {
  {
    const std::lock_guard lock(mutex_);
    word_.fetch_and(~kPause, std::memory_order_seq_cst);
  }
  opened_.notify_all();
}

}  // namespace weftline::runtime
