// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <utility>

#include "weftline/cuda/file_descriptor.hpp"
#include "weftline/runtime/managed_shutdown_signals.hpp"

namespace weftline {

/// The custody itself: both signals blocked on the thread that made it, and what arrives readable
/// from a descriptor.
class ManagedShutdownSignals::Domain {
 public:
  Domain(FileDescriptor arrivals, const sigset_t& newly_blocked) noexcept
      : arrivals_(std::move(arrivals)), newly_blocked_(newly_blocked) {}
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  ~Domain();

  /// Takes the process's domain for a run; null when there is none.
  [[nodiscard]] static std::shared_ptr<Domain> current();
  /// True once: a domain serves one run.
  [[nodiscard]] bool use() noexcept { return !used_.exchange(true); }
  [[nodiscard]] int arrivals() const noexcept { return arrivals_.get(); }

 private:
  FileDescriptor arrivals_;  // a signalfd
  const sigset_t newly_blocked_;
  const pthread_t owner_{pthread_self()};
  std::atomic<bool> used_{false};
};

}  // namespace weftline
