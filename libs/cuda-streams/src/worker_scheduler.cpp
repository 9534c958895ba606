// SPDX-License-Identifier: Apache-2.0
#include "worker_scheduler.hpp"

#include <atomic>
#include <thread>
#include <utility>

#include "weftline/cuda/host_task.hpp"

namespace weftline::cuda_streams {

/// The thread shares ownership of this object and knows no device, so it may outlive both the
/// stream's handle and the device.
class WorkerScheduler::Worker {
 public:
  Worker(std::uint32_t capacity, std::shared_ptr<HardwareQueue> hardware_queue)
      : queue_(capacity, std::move(hardware_queue)) {}

  [[nodiscard]] static std::shared_ptr<Worker> start(
      std::uint32_t capacity, std::shared_ptr<HardwareQueue> hardware_queue) {
    auto worker = std::make_shared<Worker>(capacity, std::move(hardware_queue));
    worker->thread_ = std::thread([worker] { worker->run(); });
    return worker;
  }

  [[nodiscard]] OperationQueue& queue() noexcept { return queue_; }
  /// Whether `join()` returns without waiting for work.
  [[nodiscard]] bool finished() const noexcept { return finished_; }
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }

 private:
  void run() noexcept {
    while (StreamOperation* const operation = queue_.wait_front()) {
      queue_.wait_to_begin(*operation);
      perform(*operation);
      queue_.retire();
    }
    finished_ = true;
  }

  OperationQueue queue_;
  std::thread thread_{};
  std::atomic<bool> finished_{false};
};

WorkerScheduler::~WorkerScheduler() {
  const bool may_wait = !in_host_task();
  for (const auto& worker : workers_) {
    if (may_wait) {
      worker->join();
    } else {
      worker->detach();
    }
  }
}

OperationQueue& WorkerScheduler::create_queue(std::uint32_t capacity,
                                              std::shared_ptr<HardwareQueue> hardware_queue) {
  MutexLock lock(mutex_);
  std::erase_if(workers_, [](const std::shared_ptr<Worker>& worker) {
    const bool finished = worker->finished();
    if (finished) {
      worker->join();
    }
    return finished;
  });
  workers_.reserve(workers_.size() + 1);  // a worker that has started must find its place
  workers_.push_back(Worker::start(capacity, std::move(hardware_queue)));
  return workers_.back()->queue();
}

}  // namespace weftline::cuda_streams
