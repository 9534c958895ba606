// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>

#include "weftline/tensor/tensor_pool.hpp"

namespace weftline {

/// Tells the producer's lane that a slot came back, when it asked. One thread sets, arms and
/// disarms; any thread notifies.
///
/// No return is missed: the returner publishes its slot, then reads `armed_`; the lane sets
/// `armed_`, then looks for a slot once more. All four are sequentially consistent, so at least one
/// of the two sees what the other did. (With release and acquire only, both may miss.)
class ReturnSignal {
 public:
  /// Cold. No call to the callback before is running or to come when it returns.
  void set(SlotReturnCallback callback) noexcept {
    disarm();
    // A notifier counts itself before it takes the flag. Either its exchange came before our store
    // and the count shows it, or it finds the flag down.
    while (notifiers_.load() != 0) std::this_thread::yield();
    callback_ = callback;
  }
  void arm() noexcept {
    if (callback_.function != nullptr) armed_.store(true);
  }
  void disarm() noexcept { armed_.store(false); }

  void notify() noexcept {
    if (!armed_.load()) return;
    notifiers_.fetch_add(1);
    if (armed_.exchange(false)) callback_.function(callback_.context);
    notifiers_.fetch_sub(1);
  }

 private:
  SlotReturnCallback callback_{};  ///< Changed only while no notifier may read it.
  std::atomic<bool> armed_{false};
  std::atomic<int> notifiers_{0};
};

}  // namespace weftline
