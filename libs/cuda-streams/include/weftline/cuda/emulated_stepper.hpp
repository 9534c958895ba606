// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "weftline/cuda/stream_ref.hpp"

namespace weftline {

namespace cuda_streams {
class StepperControl;
}

struct StepperOptions {
  /// Which stream advances: the same choices among the same streams that can.
  std::uint64_t seed{1};
  /// After each operation a stream rests for 0 to this many steps of the others.
  std::uint32_t longest_rest{0};
};

/// Makes an emulated device advance its streams step by step, one operation of one stream at a
/// time, and lets a test take hold of it: stalls, refused calls, the loss of the device. Given to a
/// device by `EmulatedDeviceOptions::stepper`; each device that is opened with it has its own
/// sequence of steps, and what is done here is done to all of them.
///
/// One thread steps, and one other runs the host tasks of all streams, one after another, as CUDA
/// does. While a task runs, the other streams advance. So the order of the operations queued under
/// `pause()` depends on the seed alone, as long as no host task is among them.
///
/// All members may be called from any thread.
class EmulatedStepper {
 public:
  explicit EmulatedStepper(const StepperOptions& options = {});

  /// No stream advances until `resume()`. A task that runs already goes on.
  void pause();
  void resume();
  /// One stream does not advance, from its next operation on, until it is resumed. If that is a
  /// wait for a fence word, it holds up its hardware queue, also when the word is written.
  void stall(StreamRef stream);
  void resume(StreamRef stream);

  /// The device answers the n-th call from now on with kFailure (DEVICE_CALL_FAILED), and does not
  /// do it; 1 is the next call. 0 takes that back.
  void refuse_call(std::uint64_t nth);

  /// The device is lost, as to a sticky CUDA error: work that is queued is dropped, host tasks and
  /// work of stalled streams included, and every call answers kFailure (DEVICE_LOST), the first one
  /// in words. Other devices' waits for its events open. There is no way back.
  void lose_device();
  /// The same when this many more operations are done.
  void lose_device_after(std::uint64_t operations);

  /// For the backend.
  [[nodiscard]] const std::shared_ptr<cuda_streams::StepperControl>& control() const noexcept {
    return control_;
  }

 private:
  std::shared_ptr<cuda_streams::StepperControl> control_;
};

}  // namespace weftline
