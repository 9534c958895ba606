// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "annotated_mutex.hpp"
#include "weftline/cuda/emulated_stepper.hpp"

namespace weftline::cuda_streams {

/// What an EmulatedStepper and the devices that are stepped by it share. Its mutex guards the
/// steps, too: one device advances at a time, and nothing changes in the middle of a step.
class StepperControl {
 public:
  explicit StepperControl(const StepperOptions& options) : options_(options) {}

  [[nodiscard]] const StepperOptions& options() const noexcept { return options_; }
  [[nodiscard]] Mutex& mutex() noexcept ABSL_LOCK_RETURNED(mutex_) { return mutex_; }

  /// Something that a waiting scheduler has to look at was changed.
  void tell() noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    tell_locked();
  }
  void tell_locked() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++changes_;
    changed_.notify_all();
  }
  [[nodiscard]] std::uint64_t changes() const noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return changes_;
  }
  /// Waits until there are more changes than `seen`.
  void wait_for_change(std::uint64_t seen) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (changes_ == seen) {
      changed_.wait(mutex_);
    }
  }
  /// The same, or for a while.
  void nap(std::uint64_t seen) noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (changes_ == seen) {
      changed_.wait_for(mutex_, std::chrono::microseconds(50));
    }
  }

  void set_paused(bool paused) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    paused_ = paused;
    tell_locked();
  }
  void set_stalled(const CUstream_st* stream, bool stalled) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    std::erase(stalled_, stream);
    if (stalled) {
      stalled_.push_back(stream);
    }
    tell_locked();
  }
  [[nodiscard]] bool may_advance(const CUstream_st* stream) const noexcept
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !paused_ && std::find(stalled_.begin(), stalled_.end(), stream) == stalled_.end();
  }

  void refuse_call(std::uint64_t nth) noexcept { calls_until_refusal_ = nth; }
  [[nodiscard]] bool refuses_this_call() noexcept {
    std::uint64_t left = calls_until_refusal_;
    while (left != 0 && !calls_until_refusal_.compare_exchange_weak(left, left - 1)) {
    }
    return left == 1;
  }

  void lose() noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    lost_ = true;
    tell_locked();
  }
  void lose_after(std::uint64_t operations) noexcept ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    operations_until_loss_ = operations;
    if (operations == 0) {
      lost_ = true;
      tell_locked();
    }
  }
  void count_operation() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (operations_until_loss_ != 0 && --operations_until_loss_ == 0) {
      lost_ = true;
    }
  }
  /// Once true, so that no work is done or reported as done any more.
  [[nodiscard]] bool lost() const noexcept { return lost_; }

 private:
  const StepperOptions options_;
  std::atomic<std::uint64_t> calls_until_refusal_{0};
  std::atomic<bool> lost_{false};  // written under mutex_

  Mutex mutex_;
  CondVar changed_;
  std::uint64_t changes_ ABSL_GUARDED_BY(mutex_){0};
  std::uint64_t operations_until_loss_ ABSL_GUARDED_BY(mutex_){0};
  std::vector<const CUstream_st*> stalled_ ABSL_GUARDED_BY(mutex_);
  bool paused_ ABSL_GUARDED_BY(mutex_){false};
};

}  // namespace weftline::cuda_streams
