// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "owned_backing.hpp"
#include "weftline/tensor/retirement_worker.hpp"

namespace weftline {

/// What waits for its end. Any thread pushes; one thread (the worker's, or after it whoever calls)
/// looks. It lives as long as its worker and every backing that names it.
class RetirementQueue {
 public:
  // Any thread.

  void push(OwnedBacking& backing) noexcept;
  [[nodiscard]] HostWaitCounters& host_waits() noexcept { return host_waits_; }
  [[nodiscard]] RetirementUsage usage() const noexcept;
  /// Ends run().
  void stop() noexcept;
  [[nodiscard]] bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }

  // One thread.

  /// Looks until stopped.
  void run() noexcept;
  /// Ends the lives of those that have passed.
  void look() noexcept;
  /// The same, those that were given up included.
  void look_again() noexcept;

 private:
  void collect() noexcept;

  std::atomic<TensorBacking*> pushed_{nullptr};
  std::atomic<std::uint32_t> signal_{0};  ///< Changes with every push and with stop().
  std::atomic<bool> stopping_{false};
  HostWaitCounters host_waits_{};
  std::atomic<std::uint64_t> pushes_{0};
  std::atomic<std::uint64_t> retired_{0};
  std::atomic<std::uint64_t> unresolved_{0};
  TensorBacking* waiting_{nullptr};   ///< The looking thread's.
  TensorBacking* given_up_{nullptr};  ///< The same.
};

}  // namespace weftline
