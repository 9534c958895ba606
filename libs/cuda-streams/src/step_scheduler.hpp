// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <thread>

#include "stepper_control.hpp"
#include "stream_scheduler.hpp"

namespace weftline::cuda_streams {

/// One thread that advances all queues, one operation at a time, in an order that a seed chooses;
/// and one that runs their host tasks, one after another. See EmulatedStepper.
class StepScheduler final : public StreamScheduler {
 public:
  explicit StepScheduler(std::shared_ptr<StepperControl> control);
  ~StepScheduler() override;

  [[nodiscard]] OperationQueue& create_queue(
      std::uint32_t capacity, std::shared_ptr<HardwareQueue> hardware_queue) override;

 private:
  class Core;

  // Shared with the threads, which may outlive the scheduler.
  const std::shared_ptr<Core> core_;
  Mutex start_mutex_;
  std::thread stepping_;
  std::thread tasks_;
};

}  // namespace weftline::cuda_streams
