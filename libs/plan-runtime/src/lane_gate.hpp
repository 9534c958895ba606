// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "parker.hpp"

namespace weftline::runtime {

/// What every lane looks at between two activations: one word, zero while all goes on. The
/// controller closes it to change operators while none of them runs; a stop closes it for good.
///
/// Who writes: `word_` the controller (pause) and any thread (stop), by read-modify-write, seq_cst
/// like every condition that a lane sleeps on (see Parker): a lane that parks after the word was
/// set either reads it before it sleeps or finds the notification. `inside_` counts the lanes that
/// may touch an operator, and changes under the mutex only. pause() returns when it has seen zero
/// there, so all that lanes did before is visible to the controller; a lane comes back in under the
/// same mutex after resume(), so it sees all that the controller did. A lane that never stops at
/// the gate is inside all the time, and pause() does not return. The mutex is taken by nobody while
/// the word is zero, but for a lane's end: it is not on a sample's way.
class LaneGate {
 public:
  LaneGate() = default;
  LaneGate(const LaneGate&) = delete;
  LaneGate& operator=(const LaneGate&) = delete;

  /// A lane that has to be woken. Before the lanes start.
  void add_lane(Parker& lane) { lanes_.push_back(&lane); }
  /// Before the lanes are gone, and while nobody else has the run.
  void forget_lanes() noexcept { lanes_.clear(); }

  // A lane's thread.

  /// False when the lane has to call pass() before the next activation. One load.
  [[nodiscard]] bool open() const noexcept { return word_.load(std::memory_order_seq_cst) == 0; }
  [[nodiscard]] bool stopping() const noexcept {
    return (word_.load(std::memory_order_seq_cst) & kStop) != 0;
  }
  /// Between two activations: blocks while the gate is paused, and until `ready()`, which turns
  /// true before a resume(). False when the lane has to end.
  template <class Ready>
  [[nodiscard]] bool pass(const Ready& ready) noexcept {
    std::unique_lock lock(mutex_);
    const auto may_go = [&] { return stopping() || (!paused() && ready()); };
    if (!may_go()) {
      --inside_;
      quiet_.notify_all();
      opened_.wait(lock, may_go);
      ++inside_;
    }
    return !stopping();
  }
  [[nodiscard]] bool pass() noexcept {
    return pass([] { return true; });
  }
  /// The lane's last call.
  void leave() noexcept;

  // Any thread.

  /// Lanes end after their activation, those that wait at the gate at once. Blocks on nothing that
  /// a callback holds.
  void stop() noexcept;

  // The controller's thread.

  /// Before a lane's thread is made: it is inside from then on, until leave().
  void enter() noexcept;
  /// Blocks until no lane is inside: until the running activations have returned. False, and no
  /// pause, when a stop came before or meanwhile.
  [[nodiscard]] bool pause() noexcept;
  void resume() noexcept;

 private:
  static constexpr std::uint32_t kStop = 1;
  static constexpr std::uint32_t kPause = 2;
  [[nodiscard]] bool paused() const noexcept {
    return word_.load(std::memory_order_seq_cst) == kPause;
  }
  void wake_lanes() noexcept;

  alignas(64) std::atomic<std::uint32_t> word_{0};
  alignas(64) std::vector<Parker*> lanes_{};
  std::mutex mutex_{};
  std::condition_variable opened_{};
  std::condition_variable quiet_{};
  std::uint32_t inside_{0};
};

}  // namespace weftline::runtime
