// SPDX-License-Identifier: Apache-2.0
#include "host_task_pool.hpp"

#include <utility>

namespace weftline::cuda_streams {

HostTaskPool::HostTaskPool() noexcept {
  for (Slot& slot : slots_) {
    slot.next_free_ = std::exchange(first_free_, &slot);
  }
}

HostTaskPool::Slot* HostTaskPool::take(const HostTask& task) noexcept {
  Slot* slot = nullptr;
  {
    MutexLock lock(mutex_);
    if (first_free_ == nullptr) {
      return nullptr;
    }
    slot = std::exchange(first_free_, first_free_->next_free_);
  }
  slot->task_ = task;
  slot->pool_ = shared_from_this();
  return slot;
}

void HostTaskPool::run(Slot* slot) noexcept {
  slot->task_();
  give_back(slot);
}

void HostTaskPool::give_back(Slot* slot) noexcept {
  const std::shared_ptr<HostTaskPool> pool = std::move(slot->pool_);  // outlives the lock below
  MutexLock lock(pool->mutex_);
  slot->next_free_ = std::exchange(pool->first_free_, slot);
}

}  // namespace weftline::cuda_streams
