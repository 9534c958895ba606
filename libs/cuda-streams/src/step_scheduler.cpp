// SPDX-License-Identifier: Apache-2.0
#include "step_scheduler.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "weftline/cuda/host_task.hpp"

namespace weftline::cuda_streams {

class StepScheduler::Core {
 public:
  explicit Core(std::shared_ptr<StepperControl> control)
      : control_(std::move(control)), random_(control_->options().seed) {}

  [[nodiscard]] OperationQueue& create_queue(std::uint32_t capacity,
                                             std::shared_ptr<HardwareQueue> hardware_queue)
      ABSL_LOCKS_EXCLUDED(control_->mutex()) {
    const auto tell = [](void* control) noexcept { static_cast<StepperControl*>(control)->tell(); };
    auto stream =
        std::make_unique<Stream>(capacity, std::move(hardware_queue), tell, control_.get());
    OperationQueue& queue = stream->queue;
    MutexLock lock(control_->mutex());
    // So that stepping never allocates.
    can_advance_.reserve(streams_.size() + 1);
    task_streams_.reserve(streams_.size() + 1);
    streams_.push_back(std::move(stream));
    return queue;
  }
  void close() noexcept ABSL_LOCKS_EXCLUDED(control_->mutex()) {
    MutexLock lock(control_->mutex());
    closing_ = true;
    control_->tell_locked();
  }

  /// Until the end.
  void step() noexcept ABSL_LOCKS_EXCLUDED(control_->mutex());
  void run_tasks() noexcept ABSL_LOCKS_EXCLUDED(control_->mutex()) {
    while (Stream* const stream = next_task_stream()) {
      const bool dropped = control_->lost();
      if (!dropped) {
        perform(*stream->queue.front());
      }
      end_task(*stream, dropped);
    }
  }

 private:
  struct Stream {
    Stream(std::uint32_t capacity, std::shared_ptr<HardwareQueue> hardware_queue,
           void (*tell)(void*) noexcept, void* who)
        : queue(capacity, std::move(hardware_queue), tell, who) {}
    OperationQueue queue;
    std::uint32_t rest{0};  // steps of others that it still lets pass
    bool runs_task{false};  // its front is with the task thread: it has begun
    [[nodiscard]] const CUstream_st* handle() const noexcept {
      return reinterpret_cast<const CUstream_st*>(&queue);
    }
  };
  enum class Outlook { kStepped, kResting, kWaitingElsewhere, kIdle };

  [[nodiscard]] Outlook step_once() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_->mutex());
  void advance(Stream& stream) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_->mutex());
  /// Whether there was anything.
  bool drop_all() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_->mutex());
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(control_->mutex()) {
    return random_() % bound;  // the same on every machine, unlike a distribution
  }
  [[nodiscard]] Stream* next_task_stream() noexcept ABSL_LOCKS_EXCLUDED(control_->mutex());
  void end_task(Stream& stream, bool dropped) noexcept ABSL_LOCKS_EXCLUDED(control_->mutex());

  const std::shared_ptr<StepperControl> control_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(control_->mutex());
  std::vector<std::unique_ptr<Stream>> streams_ ABSL_GUARDED_BY(control_->mutex());
  std::vector<Stream*> can_advance_ ABSL_GUARDED_BY(control_->mutex());
  std::vector<Stream*> task_streams_ ABSL_GUARDED_BY(control_->mutex());  // the oldest first
  bool closing_ ABSL_GUARDED_BY(control_->mutex()){false};
  bool ended_ ABSL_GUARDED_BY(control_->mutex()){false};
};

void StepScheduler::Core::step() noexcept {
  MutexLock lock(control_->mutex());
  while (true) {
    const std::uint64_t seen = control_->changes();
    std::erase_if(streams_, [](const std::unique_ptr<Stream>& stream) {
      return !stream->runs_task && stream->queue.at_end();
    });
    if (closing_ && streams_.empty()) {
      break;
    }
    switch (step_once()) {
      case Outlook::kStepped:
      case Outlook::kResting:
        break;
      case Outlook::kWaitingElsewhere:
        control_->nap(seen);
        break;
      case Outlook::kIdle:
        control_->wait_for_change(seen);
    }
  }
  ended_ = true;
  control_->tell_locked();
}

StepScheduler::Core::Outlook StepScheduler::Core::step_once() noexcept {
  if (control_->lost()) {
    return drop_all() ? Outlook::kStepped : Outlook::kIdle;
  }
  Outlook outlook = Outlook::kIdle;
  can_advance_.clear();
  for (const auto& stream : streams_) {
    const StreamOperation* const operation = stream->queue.front();
    if (stream->runs_task || operation == nullptr || !control_->may_advance(stream->handle()) ||
        !stream->queue.may_begin(*operation)) {
      continue;  // whoever holds the hardware queue is looked at in its turn
    }
    if (stream->rest != 0) {
      --stream->rest;
      outlook = Outlook::kResting;
    } else if (is_ready(*operation)) {
      can_advance_.push_back(stream.get());
    } else if (outlook == Outlook::kIdle) {
      outlook = Outlook::kWaitingElsewhere;  // another device, a host thread, another process
    }
  }
  if (can_advance_.empty()) {
    return outlook;
  }
  advance(*can_advance_[below(can_advance_.size())]);
  return Outlook::kStepped;
}

void StepScheduler::Core::advance(Stream& stream) noexcept {
  StreamOperation& operation = *stream.queue.front();
  if (std::holds_alternative<HostTask>(operation)) {
    stream.runs_task = true;
    task_streams_.push_back(&stream);
    control_->tell_locked();
  } else {
    perform(operation);
    stream.queue.retire();
    control_->count_operation();
  }
  stream.rest =
      static_cast<std::uint32_t>(below(control_->options().longest_rest + std::uint64_t{1}));
}

bool StepScheduler::Core::drop_all() noexcept {
  bool dropped = false;
  for (const auto& stream : streams_) {
    while (!stream->runs_task && stream->queue.front() != nullptr) {
      stream->queue.retire();
      dropped = true;
    }
  }
  return dropped;
}

StepScheduler::Core::Stream* StepScheduler::Core::next_task_stream() noexcept {
  MutexLock lock(control_->mutex());
  while (task_streams_.empty() && !ended_) {
    control_->wait_for_change(control_->changes());
  }
  if (task_streams_.empty()) {
    return nullptr;
  }
  Stream* const stream = task_streams_.front();
  task_streams_.erase(task_streams_.begin());
  return stream;
}

void StepScheduler::Core::end_task(Stream& stream, bool dropped) noexcept {
  MutexLock lock(control_->mutex());
  stream.queue.retire();
  stream.runs_task = false;
  if (!dropped) {
    control_->count_operation();
  }
  control_->tell_locked();
}

StepScheduler::StepScheduler(std::shared_ptr<StepperControl> control)
    : core_(std::make_shared<Core>(std::move(control))) {}

StepScheduler::~StepScheduler() {
  core_->close();
  for (std::thread* const thread : {&stepping_, &tasks_}) {
    if (!thread->joinable()) {
      continue;  // no queue was ever made
    }
    if (in_host_task()) {
      thread->detach();
    } else {
      thread->join();
    }
  }
}

OperationQueue& StepScheduler::create_queue(std::uint32_t capacity,
                                            std::shared_ptr<HardwareQueue> hardware_queue) {
  MutexLock lock(start_mutex_);
  if (!stepping_.joinable()) {
    stepping_ = std::thread([core = core_] { core->step(); });
  }
  if (!tasks_.joinable()) {
    tasks_ = std::thread([core = core_] { core->run_tasks(); });
  }
  return core_->create_queue(capacity, std::move(hardware_queue));
}

}  // namespace weftline::cuda_streams
