// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "annotated_mutex.hpp"
#include "stream_scheduler.hpp"

namespace weftline::cuda_streams {

/// A worker thread for each queue, so that streams run at the same time and none can hold up
/// another, but by way of their hardware queue. A worker at its end is joined by the next
/// `create_queue()`, or by the destructor.
class WorkerScheduler final : public StreamScheduler {
 public:
  ~WorkerScheduler() override;

  [[nodiscard]] OperationQueue& create_queue(std::uint32_t capacity,
                                             std::shared_ptr<HardwareQueue> hardware_queue) override
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  class Worker;

  Mutex mutex_;
  std::vector<std::shared_ptr<Worker>> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace weftline::cuda_streams
