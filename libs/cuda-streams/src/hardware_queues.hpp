// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "annotated_mutex.hpp"
#include "hardware_queue.hpp"

namespace weftline::cuda_streams {

/// Deals the streams of one emulated device to its hardware queues.
class HardwareQueues {
 public:
  /// `count` is not 0.
  explicit HardwareQueues(std::uint32_t count) noexcept : count_(count) {}

  /// The first of those with the fewest owners; a stream owns its own until it is destroyed and its
  /// work done. Streams that are never destroyed are so dealt in turn, and no two streams share a
  /// hardware queue while there are no more of them than `count`. Throws std::bad_alloc.
  [[nodiscard]] std::shared_ptr<HardwareQueue> deal() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    const auto fewest = std::min_element(
        queues_.begin(), queues_.end(),
        [](const auto& a, const auto& b) { return a.use_count() < b.use_count(); });
    const bool all_owned = fewest == queues_.end() || fewest->use_count() > 1;  // 1 is ours
    if (all_owned && queues_.size() < count_) {
      return queues_.emplace_back(std::make_shared<HardwareQueue>());
    }
    return *fewest;
  }

 private:
  const std::uint32_t count_;
  Mutex mutex_;
  // No more than were ever needed at once.
  std::vector<std::shared_ptr<HardwareQueue>> queues_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
