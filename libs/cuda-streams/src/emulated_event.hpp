// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "annotated_mutex.hpp"
#include "emulated_timeline.hpp"

namespace weftline::cuda_streams {

/// What the handle of an emulated device's event points to: the point of its last record.
class EmulatedEvent {
 public:
  void record(TimelinePoint point) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::swap(last_, point);
  }
  [[nodiscard]] TimelinePoint last_record() const noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return last_;
  }

 private:
  mutable Mutex mutex_;
  TimelinePoint last_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
