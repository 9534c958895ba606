// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "annotated_mutex.hpp"

namespace weftline::cuda_streams {

/// How far one emulated stream has come: the number of its operations that are done. It outlives
/// the stream while an event or a wait still points to it.
///
/// Waiting parks the thread on a condition variable. A stream can wait for long (a camera's next
/// frame), and burning a core meanwhile would starve the emulated devices' own workers; the few
/// microseconds of a wake-up are what a real device takes to notice an event, too.
class Timeline {
 public:
  /// One more operation is done. Only the stream's worker calls it.
  void advance() noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  /// Whether the first `position` operations are done. Never blocks.
  [[nodiscard]] bool reached(std::uint64_t position) const noexcept {
    return done_.load(std::memory_order_acquire) >= position;
  }

  /// Blocks until `reached(position)`.
  void wait(std::uint64_t position) noexcept ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::atomic<std::uint64_t> done_{0};  // written under mutex_, so that no waiter misses it
  Mutex mutex_;
  CondVar advanced_;
  std::uint32_t waiters_ ABSL_GUARDED_BY(mutex_){0};
};

/// A place on a timeline; without one it counts as reached. An event is one of these, and not a
/// counter of its own: records on different streams may complete in any order, and each wait keeps
/// the record that it was given.
struct TimelinePoint {
  std::shared_ptr<Timeline> timeline{};
  std::uint64_t position{0};

  [[nodiscard]] bool reached() const noexcept { return !timeline || timeline->reached(position); }
  void wait() const noexcept {
    if (timeline) {
      timeline->wait(position);
    }
  }
};

}  // namespace weftline::cuda_streams
