// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>

// Replaces the program's operator new with one that counts: include it in one source of a program.

namespace weftline::testing {

inline std::uint64_t& allocations_of_this_thread() noexcept {
  thread_local std::uint64_t count = 0;
  return count;
}

}  // namespace weftline::testing

// Not inlined: gcc would take the pair for a mismatch of new and free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++weftline::testing::allocations_of_this_thread();
  if (void* const data = std::malloc(bytes != 0 ? bytes : 1)) {
    return data;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }
