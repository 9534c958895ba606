// SPDX-License-Identifier: Apache-2.0
#include "emulated_timeline.hpp"

namespace weftline::cuda_streams {

void Timeline::advance() noexcept {
  bool awaited = false;
  {
    MutexLock lock(mutex_);
    done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    awaited = waiters_ != 0;
  }
  if (awaited) {
    advanced_.notify_all();
  }
}

void Timeline::wait(std::uint64_t position) noexcept {
  if (reached(position)) {
    return;
  }
  MutexLock lock(mutex_);
  ++waiters_;
  while (!reached(position)) {
    advanced_.wait(mutex_);
  }
  --waiters_;
}

}  // namespace weftline::cuda_streams
