// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <variant>
#include <vector>

#include "annotated_mutex.hpp"
#include "emulated_timeline.hpp"
#include "record_time.hpp"
#include "weftline/cuda/fence_words.hpp"
#include "weftline/cuda/host_task.hpp"

namespace weftline::cuda_streams {

struct CopyOperation {
  void* destination;
  const void* source;
  std::uint64_t bytes;
};
struct FillOperation {
  void* destination;
  std::byte value;
  std::uint64_t bytes;
};
/// The place in the stream that an event marks.
struct RecordOperation {
  RecordStamp stamp;
};
struct WaitOperation {
  TimelinePoint point;
};
struct WriteWordOperation {
  FenceWord word;
  std::uint64_t value;
};
struct WaitWordOperation {
  FenceWord word;
  std::uint64_t value;
};
using StreamOperation =
    std::variant<std::monostate, CopyOperation, FillOperation, HostTask, RecordOperation,
                 WaitOperation, WriteWordOperation, WaitWordOperation>;

/// A queue of operations and the thread that does them, one after another. The places of the queue
/// are made at the start, so queuing allocates nothing; the caller blocks only while all are taken.
///
/// The worker shares ownership of this object and knows no device, so it may outlive both the
/// stream's handle and the device.
class EmulatedStream {
 public:
  /// Starts the worker. Throws std::exception when memory or threads run out.
  [[nodiscard]] static std::shared_ptr<EmulatedStream> start(std::uint32_t capacity);
  /// For `start()`.
  explicit EmulatedStream(std::uint32_t capacity) : places_(capacity) {}

  /// Returns the point at which the operation is done.
  template <class Operation>
  TimelinePoint queue(const Operation& operation) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// The point at which everything queued so far is done.
  [[nodiscard]] TimelinePoint last_queued() const noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  /// Nothing more will be queued: the worker ends when the queue is empty.
  void close() noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  // For the device, once, after `close()`.

  /// Whether `join()` returns without waiting for work.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  void join() { worker_.join(); }
  void detach() { worker_.detach(); }

 private:
  void run() noexcept;
  /// The oldest operation, which stays in its place while it is done; null at the end.
  StreamOperation* next() noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void retire(StreamOperation& operation) noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  const std::shared_ptr<Timeline> timeline_ = std::make_shared<Timeline>();
  std::thread worker_{};
  std::atomic<bool> finished_{false};

  mutable Mutex mutex_;
  CondVar work_came_;
  CondVar place_came_;
  std::uint64_t queued_ ABSL_GUARDED_BY(mutex_){0};   // operations ever queued
  std::uint64_t retired_ ABSL_GUARDED_BY(mutex_){0};  // of those, done and their places free
  std::uint32_t blocked_callers_ ABSL_GUARDED_BY(mutex_){0};
  bool worker_waits_ ABSL_GUARDED_BY(mutex_){false};
  bool closed_ ABSL_GUARDED_BY(mutex_){false};
  // Operation n is in place n modulo the size. A place belongs to the caller until the operation
  // counts in queued_, then to the worker until it counts in retired_.
  std::vector<StreamOperation> places_;
};

/// What the handle of an emulated device's stream points to.
[[nodiscard]] inline EmulatedStream& as_stream(CUstream_st* handle) noexcept {
  return *reinterpret_cast<EmulatedStream*>(handle);
}

template <class Operation>
TimelinePoint EmulatedStream::queue(const Operation& operation) noexcept {
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
    position = ++queued_;
    wake = worker_waits_;
  }
  if (wake) {
    work_came_.notify_one();
  }
  return {timeline_, position};
}

}  // namespace weftline::cuda_streams
