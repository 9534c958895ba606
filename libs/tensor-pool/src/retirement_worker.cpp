// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/retirement_worker.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "retirement_queue.hpp"

namespace weftline {
namespace {

/// A thread inherits the pin of the one that starts it; the process's own set is that of its first
/// thread.
void use_processors_of_process() noexcept {
  cpu_set_t processors;
  if (sched_getaffinity(getpid(), sizeof processors, &processors) == 0) {
    static_cast<void>(sched_setaffinity(0, sizeof processors, &processors));
  }
}

}  // namespace

RetirementWorker::RetirementWorker(std::shared_ptr<RetirementQueue> queue) noexcept
    : queue_(std::move(queue)) {}

expected<RetirementWorker, Error> RetirementWorker::start() {
  RetirementWorker worker(std::make_shared<RetirementQueue>());
  try {
    worker.thread_ = std::thread([queue = worker.queue_] {
      pthread_setname_np(pthread_self(), "weft-retire");
      use_processors_of_process();
      queue->run();
    });
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kResourceExhausted, "RETIREMENT_WORKER_THREAD",
                std::string("can't start the retirement worker's thread: ") + error.what() +
                    "; raise the limit on threads (ulimit -u)");
  }
  return worker;
}

RetirementWorker& RetirementWorker::operator=(RetirementWorker&& other) noexcept {
  RetirementWorker moved(std::move(other));
  std::swap(queue_, moved.queue_);
  std::swap(thread_, moved.thread_);
  return *this;
}

RetirementWorker::~RetirementWorker() { stop(); }

void RetirementWorker::stop() noexcept {
  if (!thread_.joinable()) return;
  queue_->stop();
  thread_.join();
}

void RetirementWorker::retire_passed() noexcept {
  if (queue_) queue_->look_again();
}

RetirementUsage RetirementWorker::usage() const noexcept {
  return queue_ ? queue_->usage() : RetirementUsage{};
}

}  // namespace weftline
