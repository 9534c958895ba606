// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "annotated_mutex.hpp"
#include "weftline/cuda/host_task.hpp"

namespace weftline::cuda_streams {

/// Carries host tasks through a driver that takes only a function and one pointer, without
/// allocating: a bounded set of slots, made once. All members are thread-safe.
///
/// A slot in use keeps the pool alive, so tasks in flight outlive the device that queued them. (A
/// lost device never runs its tasks: they keep the pool until the process ends.)
class HostTaskPool : public std::enable_shared_from_this<HostTaskPool> {
 public:
  static constexpr std::size_t kCapacity = 1024;

  class Slot {
    friend class HostTaskPool;
    HostTask task_{};
    std::shared_ptr<HostTaskPool> pool_{};  // set while in use
    Slot* next_free_{nullptr};
  };

  /// Owned through a shared_ptr: make it with std::make_shared.
  HostTaskPool() noexcept;

  /// Copies `task` into a free slot, or returns null when all are in flight.
  [[nodiscard]] Slot* take(const HostTask& task) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  /// Runs the task of a slot, then gives the slot back.
  static void run(Slot* slot) noexcept;
  /// Gives a slot back without running its task.
  static void give_back(Slot* slot) noexcept;

 private:
  Mutex mutex_;
  std::array<Slot, kCapacity> slots_;
  Slot* first_free_ ABSL_GUARDED_BY(mutex_){nullptr};
};

}  // namespace weftline::cuda_streams
