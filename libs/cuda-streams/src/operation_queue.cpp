// SPDX-License-Identifier: Apache-2.0
#include "operation_queue.hpp"

namespace weftline::cuda_streams {

TimelinePoint OperationQueue::last_queued() const noexcept {
  MutexLock lock(mutex_);
  return {timeline_, queued_};
}

void OperationQueue::close() noexcept {
  void (*const tell)(void* who) noexcept = tell_;
  void* const who = who_;
  {
    MutexLock lock(mutex_);
    closed_ = true;
    end_if_done();
    work_came_.notify_one();
  }
  if (tell != nullptr) {
    tell(who);  // the scheduler may have taken this queue away already
  }
}

StreamOperation* OperationQueue::front() noexcept {
  MutexLock lock(mutex_);
  return queued_ == retired_ ? nullptr : &oldest();
}

StreamOperation* OperationQueue::wait_front() noexcept {
  MutexLock lock(mutex_);
  scheduler_waits_ = true;
  while (queued_ == retired_ && !closed_) {
    work_came_.wait(mutex_);
  }
  scheduler_waits_ = false;
  return queued_ == retired_ ? nullptr : &oldest();
}

void OperationQueue::retire() noexcept {
  bool blocked = false;
  {
    MutexLock lock(mutex_);
    const bool held = waits_for_word(oldest());
    oldest().emplace<std::monostate>();  // a wait must not keep another stream's timeline alive
    ++retired_;
    if (queued_ != retired_ && waits_for_word(oldest())) {
      hardware_queue_->hold();
    }
    if (held) {
      hardware_queue_->release();
    }
    end_if_done();
    blocked = blocked_callers_ != 0;
  }
  if (blocked) {
    place_came_.notify_one();
  }
  timeline_->advance();
}

bool OperationQueue::at_end() const noexcept {
  MutexLock lock(mutex_);
  return closed_ && queued_ == retired_;
}

}  // namespace weftline::cuda_streams
