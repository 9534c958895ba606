// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "annotated_mutex.hpp"
#include "weftline/core/error.hpp"

namespace weftline::cuda_streams {

/// When the last record of a timed event was reached. Records are numbered as they are queued,
/// since those on different streams are reached in any order. Shared by the event and the streams
/// that have yet to reach a record of it.
class RecordTime {
 public:
  /// The number of one more record, which is the last one from now on.
  [[nodiscard]] std::uint64_t begin() noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    return ++last_;
  }
  void reach(std::uint64_t record) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    if (record == last_) {
      reached_ = record;
      time_ = std::chrono::steady_clock::now().time_since_epoch();
    }
  }
  [[nodiscard]] expected<std::chrono::nanoseconds, Error> last() noexcept
      ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    if (last_ == 0) {
      return fail(ErrorCode::kInvalidArgument, "DEVICE_EVENT_NOT_RECORDED");
    }
    if (reached_ != last_) {
      return fail(ErrorCode::kNotReady, "DEVICE_EVENT_INCOMPLETE");
    }
    return time_;
  }

 private:
  Mutex mutex_;
  std::uint64_t last_ ABSL_GUARDED_BY(mutex_){0};
  std::uint64_t reached_ ABSL_GUARDED_BY(mutex_){0};
  std::chrono::nanoseconds time_ ABSL_GUARDED_BY(mutex_){};
};

/// One record of a timed event; of an event without time it is empty.
struct RecordStamp {
  std::shared_ptr<RecordTime> time{};
  std::uint64_t record{0};
};

}  // namespace weftline::cuda_streams
