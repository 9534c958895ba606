// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "annotated_mutex.hpp"
#include "emulated_timeline.hpp"
#include "record_time.hpp"
#include "weftline/core/error.hpp"

namespace weftline::cuda_streams {

/// What the handle of an emulated device's event points to: the point of its last record, and for a
/// timed event the time of it.
class EmulatedEvent {
 public:
  explicit EmulatedEvent(bool timed) : time_(timed ? std::make_shared<RecordTime>() : nullptr) {}

  /// What the stream has to do when it reaches the record.
  [[nodiscard]] RecordStamp begin_record() const noexcept {
    return time_ ? RecordStamp{time_, time_->begin()} : RecordStamp{};
  }
  void record(TimelinePoint point) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::swap(last_, point);
  }
  [[nodiscard]] TimelinePoint last_record() const noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return last_;
  }

  /// For a timed event.
  [[nodiscard]] expected<std::chrono::nanoseconds, Error> time_of_last_record() const noexcept {
    return time_->last();
  }

 private:
  const std::shared_ptr<RecordTime> time_;
  mutable Mutex mutex_;
  TimelinePoint last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
