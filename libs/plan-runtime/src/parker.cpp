// SPDX-License-Identifier: Apache-2.0
#include "parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace weftline::runtime {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

bool Parker::park(std::optional<std::int64_t> deadline_ns) noexcept {
  std::uint32_t expected = kIdle;
  if (!state_.compare_exchange_strong(expected, kParked, std::memory_order_seq_cst)) return true;
  timespec until{};
  if (deadline_ns) {
    until.tv_sec = static_cast<time_t>(*deadline_ns / 1'000'000'000);
    until.tv_nsec = static_cast<long>(*deadline_ns % 1'000'000'000);
  }
  // An early return (signal, spurious) is fine: the lane looks at its queues and comes back.
  syscall(SYS_futex, &state_, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, kParked,
          deadline_ns ? &until : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  expected = kParked;
  return !state_.compare_exchange_strong(expected, kIdle, std::memory_order_seq_cst);
}

void Parker::wake_thread() noexcept {
  syscall(SYS_futex, &state_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

}  // namespace weftline::runtime
