// SPDX-License-Identifier: Apache-2.0
#include "parker.hpp"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "weftline/core/time.hpp"

namespace weftline::runtime {

namespace {

timespec to_timespec(std::int64_t time_ns) noexcept {
  return {.tv_sec = static_cast<time_t>(time_ns / 1'000'000'000),
          .tv_nsec = static_cast<long>(time_ns % 1'000'000'000)};
}

}  // namespace

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

Parker::~Parker() {
  if (event_ >= 0) ::close(event_);
}

expected<void, Error> Parker::make_pollable() {
  if (event_ >= 0) return {};
  event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (event_ >= 0) return {};
  return fail(ErrorCode::kResourceExhausted, "RUN_EVENTFD_UNAVAILABLE",
              "no eventfd can be had to wake a lane that watches descriptors; raise the limit on "
              "open files");
}

bool Parker::park_watching(std::optional<std::int64_t> deadline_ns,
                           std::span<pollfd> watched) noexcept {
  std::uint32_t expected = kIdle;
  if (!state_.compare_exchange_strong(expected, kParked, std::memory_order_seq_cst)) return true;
  timespec timeout{};
  if (deadline_ns) {
    timeout = to_timespec(std::max<std::int64_t>(*deadline_ns - RealtimeClock{}.now_ns(), 0));
  }
  // An early return is fine, as in park().
  const int ready =
      ::ppoll(watched.data(), watched.size(), deadline_ns ? &timeout : nullptr, nullptr);
  expected = kParked;
  const bool woken = !state_.compare_exchange_strong(expected, kIdle, std::memory_order_seq_cst);
  // A waker that found this parked writes after it: what is left of that makes one sleep shorter.
  std::uint64_t count = 0;
  static_cast<void>(::read(event_, &count, sizeof count));
  return woken || ready > 0;
}

bool Parker::park(std::optional<std::int64_t> deadline_ns) noexcept {
  std::uint32_t expected = kIdle;
  if (!state_.compare_exchange_strong(expected, kParked, std::memory_order_seq_cst)) return true;
  const timespec until = to_timespec(deadline_ns.value_or(0));
  // An early return (signal, spurious) is fine: the lane looks at its queues and comes back.
  syscall(SYS_futex, &state_, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, kParked,
          deadline_ns ? &until : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  expected = kParked;
  return !state_.compare_exchange_strong(expected, kIdle, std::memory_order_seq_cst);
}

void Parker::wake_thread() noexcept {
  if (event_ >= 0) {
    // Full (2^64 - 2 wakes that nobody has read) is as good as written.
    const std::uint64_t one = 1;
    static_cast<void>(::write(event_, &one, sizeof one));
    return;
  }
  syscall(SYS_futex, &state_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

}  // namespace weftline::runtime
