// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "annotated_mutex.hpp"
#include "emulated_timeline.hpp"
#include "hardware_queue.hpp"
#include "stream_operation.hpp"

struct CUstream_st;

namespace weftline::cuda_streams {

/// What the handle of an emulated device's stream points to: a ring of operations, and how far the
/// scheduler that takes them out has come. The places of the ring are made at the start, so queuing
/// allocates nothing; the caller blocks only while all are taken.
class OperationQueue {
 public:
  /// `tell` is called with `who` after an operation was queued and after `close()`, on the caller's
  /// thread; null where the scheduler waits in `wait_front()`. Throws std::bad_alloc.
  OperationQueue(std::uint32_t capacity, std::shared_ptr<HardwareQueue> hardware_queue,
                 void (*tell)(void* who) noexcept = nullptr, void* who = nullptr)
      : tell_(tell), who_(who), hardware_queue_(std::move(hardware_queue)), places_(capacity) {}

  // From any thread.

  /// Returns the point at which the operation is done.
  template <class Operation>
  TimelinePoint queue(const Operation& operation) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// The point at which everything queued so far is done.
  [[nodiscard]] TimelinePoint last_queued() const noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// Nothing more will be queued.
  void close() noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  // For the scheduler, one thread at a time.

  /// The oldest operation, which stays in its place until `retire()`; null where there is none.
  [[nodiscard]] StreamOperation* front() noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// The same, but waits for one; null only at the end.
  [[nodiscard]] StreamOperation* wait_front() noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// Whether the oldest operation may begin: no other stream holds the hardware queue.
  [[nodiscard]] bool may_begin(const StreamOperation& oldest) const noexcept {
    return waits_for_word(oldest) || !hardware_queue_->held();
  }
  /// Waits until it may.
  void wait_to_begin(const StreamOperation& oldest) const noexcept {
    if (!waits_for_word(oldest)) {
      hardware_queue_->wait_while_held();
    }
  }
  /// The oldest operation is done.
  void retire() noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// Whether it was closed and everything is retired.
  [[nodiscard]] bool at_end() const noexcept ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  [[nodiscard]] StreamOperation& oldest() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return places_[retired_ % places_.size()];
  }
  void end_if_done() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (closed_ && queued_ == retired_) {
      hardware_queue_.reset();  // another stream may have its place
    }
  }

  const std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
  void (*const tell_)(void* who) noexcept;
  void* const who_;
  // Written at the end only, when nobody has an operation to ask for.
  std::shared_ptr<HardwareQueue> hardware_queue_;

  mutable Mutex mutex_;
  CondVar work_came_;
  CondVar place_came_;
  std::uint64_t queued_ ABSL_GUARDED_BY(mutex_){0};   // operations ever queued
  std::uint64_t retired_ ABSL_GUARDED_BY(mutex_){0};  // of those, done and their places free
  std::uint32_t blocked_callers_ ABSL_GUARDED_BY(mutex_){0};
  bool scheduler_waits_ ABSL_GUARDED_BY(mutex_){false};
  bool closed_ ABSL_GUARDED_BY(mutex_){false};
  // Operation n is in place n modulo the size. A place belongs to the caller until the operation
  // counts in queued_, then to the scheduler until it counts in retired_.
  std::vector<StreamOperation> places_;
};

[[nodiscard]] inline OperationQueue& as_stream(CUstream_st* handle) noexcept {
  return *reinterpret_cast<OperationQueue*>(handle);
}

template <class Operation>
TimelinePoint OperationQueue::queue(const Operation& operation) noexcept {
  std::uint64_t position = 0;
  bool wake = false;
  {
    MutexLock lock(mutex_);
    ++blocked_callers_;
    while (queued_ - retired_ == places_.size()) {
      place_came_.wait(mutex_);
    }
    --blocked_callers_;
    places_[queued_ % places_.size()].emplace<Operation>(operation);
    if constexpr (std::is_same_v<Operation, WaitWordOperation>) {
      if (queued_ == retired_) {
        hardware_queue_->hold();
      }
    }
    position = ++queued_;
    wake = scheduler_waits_;
  }
  if (wake) {
    work_came_.notify_one();
  }
  if (tell_ != nullptr) {
    tell_(who_);
  }
  return {timeline_, position};
}

}  // namespace weftline::cuda_streams
