// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <thread>

#include "weftline/cuda/file_descriptor.hpp"
#include "weftline/runtime/managed_shutdown_signals.hpp"
#include "weftline/runtime/run_session.hpp"

namespace weftline {

/// Hands the shutdown signals of the process to one session.
class SignalRelay {
 public:
  /// Takes the domain of the process, or makes one. Refused as
  /// RUNTIME_MANAGED_SIGNAL_DOMAIN_REQUIRED.
  [[nodiscard]] static expected<SignalRelay, Error> adopt();

  /// Starts the thread that waits for signals. `session` lives until the relay is gone.
  [[nodiscard]] expected<void, Error> serve(RunSession& session);

  SignalRelay(SignalRelay&&) noexcept = default;
  SignalRelay& operator=(SignalRelay&&) = delete;
  /// Ends the thread.
  ~SignalRelay();

 private:
  SignalRelay(ManagedShutdownSignals signals, FileDescriptor end) noexcept
      : signals_(std::move(signals)), end_(std::move(end)) {}

  ManagedShutdownSignals signals_;
  FileDescriptor end_;  // an eventfd
  std::thread thread_{};
};

}  // namespace weftline
