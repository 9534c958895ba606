// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

// What counted_new.hpp counts. What C code takes from malloc is not seen.

namespace weftline::testing {

/// Allocations of the calling thread since its start.
inline std::uint64_t& allocations_of_this_thread() noexcept {
  thread_local std::uint64_t count = 0;
  return count;
}

/// Allocations of all threads since the start of the program.
inline std::atomic<std::uint64_t>& allocations_of_all_threads() noexcept {
  constinit static std::atomic<std::uint64_t> count{0};
  return count;
}

/// Allocations of all threads that were not given back.
inline std::atomic<std::int64_t>& live_allocations() noexcept {
  constinit static std::atomic<std::int64_t> count{0};
  return count;
}

}  // namespace weftline::testing
