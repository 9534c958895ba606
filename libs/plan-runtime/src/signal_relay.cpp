// SPDX-License-Identifier: Apache-2.0
#include "signal_relay.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "guarded.hpp"
#include "managed_shutdown_signals.hpp"

namespace weftline {
namespace {

/// Every signal that has arrived; true when there was one.
bool take_arrivals(int descriptor) noexcept {
  bool any = false;
  signalfd_siginfo info{};
  while (::read(descriptor, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) any = true;
  return any;
}

}  // namespace

expected<SignalRelay, Error> SignalRelay::adopt() {
  constexpr std::string_view kToken = "RUNTIME_MANAGED_SIGNAL_DOMAIN_REQUIRED";
  FileDescriptor end(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!end) return fail(ErrorCode::kResourceExhausted, kToken, "cannot create an eventfd");
  auto domain = ManagedShutdownSignals::Domain::current();
  if (domain == nullptr) {
    auto made = ManagedShutdownSignals::create();
    if (!made) {
      return fail(ErrorCode::kInvalidArgument, kToken,
                  made.error().message +
                      ". Keep a ManagedShutdownSignals from the start of main(), or answer signals "
                      "yourself with RunSignalPolicy::kCallerManaged");
    }
    domain = made->domain_;
  }
  if (!domain->use()) {
    return fail(ErrorCode::kInvalidArgument, kToken,
                "the process's ManagedShutdownSignals has served a run; make a new one for each");
  }
  return SignalRelay(ManagedShutdownSignals(std::move(domain)), std::move(end));
}

expected<void, Error> SignalRelay::serve(RunSession& session) {
  return runtime::guarded("RUN_THREAD_UNAVAILABLE", [&]() -> expected<void, Error> {
    thread_ = std::thread([&session, arrivals = signals_.domain_->arrivals(), end = end_.get()] {
      std::array<pollfd, 2> either{pollfd{arrivals, POLLIN, 0}, pollfd{end, POLLIN, 0}};
      while (either[1].revents == 0) {
        if (::poll(either.data(), either.size(), -1) < 0 && errno != EINTR) return;
        if (take_arrivals(arrivals)) session.request_stop();
      }
    });
    return {};
  });
}

SignalRelay::~SignalRelay() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  static_cast<void>(::write(end_.get(), &one, sizeof one));
  thread_.join();
}

}  // namespace weftline
