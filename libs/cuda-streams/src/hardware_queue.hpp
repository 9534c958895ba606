// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "annotated_mutex.hpp"

namespace weftline::cuda_streams {

/// What streams of an emulated device share: a stream whose next operation is a wait for a fence
/// word holds it until it has passed the wait, and meanwhile none of them begins another operation.
///
/// A hold is there before the call that queues the wait returns, or before the operation ahead of
/// the wait counts as done. So work that is queued after either finds it, for its stream looks when
/// it has the operation in hand. What finds no hold has begun, and goes on whatever comes then.
///
/// A wait for a word never looks. So holders do not wait for each other, and each hold ends when
/// its word opens, which its stream sees by itself whoever wrote it. That stream then wakes those
/// that found the queue held: they wait on a condition variable, and nobody polls for them.
class HardwareQueue {
 public:
  void hold() noexcept { ++holds_; }
  void release() noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  [[nodiscard]] bool held() const noexcept { return holds_ != 0; }
  void wait_while_held() noexcept ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::atomic<std::uint32_t> holds_{0};  // lowered under mutex_, so that no waiter misses it
  Mutex mutex_;
  CondVar freed_;
};

}  // namespace weftline::cuda_streams
