// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "weftline/core/error.hpp"

namespace weftline {

/// Takes SIGINT and SIGTERM of the process into custody, for one `run(plan,
/// RunSignalPolicy::kManaged)` to come. What arrives from now on waits for that run, and stops it
/// at its beginning.
///
/// Made at the start of main(), before anything starts a thread: compile() may (CUDA does). Every
/// later thread inherits the block, and so does every child process: one that is to be ended by
/// SIGINT or SIGTERM has to unblock them. A signal that was ignored when the domain was made stays
/// ignored.
///
///     auto signals = weftline::ManagedShutdownSignals::create();
///     …
///     return weftline::run(weftline::compile(graph));
///
/// Keep it until run() has returned. The destructor ends the custody where it runs on the thread
/// that made it: a signal that nobody took then does what it does by default.
class ManagedShutdownSignals {
 public:
  /// kInvalidArgument: the process has more than one thread
  /// (RUNTIME_MANAGED_SIGNAL_DOMAIN_THREADS), or a domain already
  /// (RUNTIME_MANAGED_SIGNAL_DOMAIN_TAKEN).
  [[nodiscard]] static expected<ManagedShutdownSignals, Error> create();

  ManagedShutdownSignals(ManagedShutdownSignals&&) noexcept;
  ManagedShutdownSignals& operator=(ManagedShutdownSignals&&) noexcept;
  ~ManagedShutdownSignals();

 private:
  friend class SignalRelay;
  class Domain;
  struct Registry;
  static Registry& registry();
  explicit ManagedShutdownSignals(std::shared_ptr<Domain> domain) noexcept;
  std::shared_ptr<Domain> domain_;
};

}  // namespace weftline
