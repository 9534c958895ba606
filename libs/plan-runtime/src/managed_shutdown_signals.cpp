// SPDX-License-Identifier: Apache-2.0
#include "managed_shutdown_signals.hpp"

#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <string>
#include <system_error>

namespace weftline {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM};

/// How many threads the process has; counted twice, for a thread may be on its way out or in.
std::size_t thread_count() {
  const auto count = [] {
    std::error_code error;
    std::size_t tasks = 0;
    for (std::filesystem::directory_iterator task("/proc/self/task", error), end;
         !error && task != end; task.increment(error)) {
      ++tasks;
    }
    return error ? std::size_t{0} : tasks;
  };
  const std::size_t first = count();
  const std::size_t second = count();
  return first == second ? first : first + second;
}

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

/// Signals belong to the process, and so does their custody.
struct ManagedShutdownSignals::Registry {
  std::mutex mutex{};
  std::weak_ptr<Domain> domain{};
};

ManagedShutdownSignals::Registry& ManagedShutdownSignals::registry() {
  static Registry one;
  return one;
}

std::shared_ptr<ManagedShutdownSignals::Domain> ManagedShutdownSignals::Domain::current() {
  const std::lock_guard lock(registry().mutex);
  return registry().domain.lock();
}

ManagedShutdownSignals::Domain::~Domain() {
  // Another thread's mask is not ours to change.
  if (pthread_equal(owner_, pthread_self()) != 0) {
    pthread_sigmask(SIG_UNBLOCK, &newly_blocked_, nullptr);
  }
}

expected<ManagedShutdownSignals, Error> ManagedShutdownSignals::create() {
  const std::lock_guard lock(registry().mutex);
  if (!registry().domain.expired()) {
    return fail(ErrorCode::kInvalidArgument, "RUNTIME_MANAGED_SIGNAL_DOMAIN_TAKEN",
                "this process has a ManagedShutdownSignals already; one serves one run");
  }
  if (const std::size_t threads = thread_count(); threads != 1) {
    return fail(ErrorCode::kInvalidArgument, "RUNTIME_MANAGED_SIGNAL_DOMAIN_THREADS",
                "the process has " + std::to_string(threads) +
                    " threads, some of which would still get its signals; make the domain at the "
                    "start of main(), before compile() and whatever else starts threads");
  }
  sigset_t taken;
  sigset_t newly_blocked;
  sigset_t blocked;
  sigemptyset(&taken);
  sigemptyset(&newly_blocked);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (const int signal : kSignals) {
    if (is_ignored(signal)) continue;
    sigaddset(&taken, signal);
    if (sigismember(&blocked, signal) == 0) sigaddset(&newly_blocked, signal);
  }
  FileDescriptor arrivals(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!arrivals) {
    return fail(ErrorCode::kResourceExhausted, "RUNTIME_MANAGED_SIGNAL_DESCRIPTORS",
                "cannot create a signalfd: " + std::generic_category().message(errno));
  }
  auto domain = std::make_shared<Domain>(std::move(arrivals), newly_blocked);
  pthread_sigmask(SIG_BLOCK, &taken, nullptr);
  registry().domain = domain;
  return ManagedShutdownSignals(std::move(domain));
}

ManagedShutdownSignals::ManagedShutdownSignals(std::shared_ptr<Domain> domain) noexcept
    : domain_(std::move(domain)) {}
ManagedShutdownSignals::ManagedShutdownSignals(ManagedShutdownSignals&&) noexcept = default;
ManagedShutdownSignals& ManagedShutdownSignals::operator=(ManagedShutdownSignals&&) noexcept =
    default;
ManagedShutdownSignals::~ManagedShutdownSignals() = default;

}  // namespace weftline
