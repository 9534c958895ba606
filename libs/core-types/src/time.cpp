// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/time.hpp"

#include <time.h>

namespace weftline {

std::int64_t RealtimeClock::now_ns() const noexcept {
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNanosecondsPerSecond + now.tv_nsec;
}

}  // namespace weftline
