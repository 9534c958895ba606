// SPDX-License-Identifier: Apache-2.0
#include "hardware_queue.hpp"

namespace weftline::cuda_streams {

void HardwareQueue::release() noexcept {
  MutexLock lock(mutex_);
  if (--holds_ == 0) {
    freed_.notify_all();
  }
}

void HardwareQueue::wait_while_held() noexcept {
  if (!held()) {
    return;
  }
  MutexLock lock(mutex_);
  while (held()) {
    freed_.wait(mutex_);
  }
}

}  // namespace weftline::cuda_streams
