// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "weftline/testing/allocation_count.hpp"

// Replaces the program's operator new and delete by ones that count. Include it in exactly one
// source of a program: a second one does not link. Not for programs that are measured: all threads
// share one counter.

namespace weftline::testing {

// Not inlined: gcc would take malloc and the program's delete for a mismatched pair.
[[gnu::noinline]] inline void* counted_allocation(std::size_t bytes,
                                                  std::size_t alignment) noexcept {
  ++allocations_of_this_thread();
  ++allocations_of_all_threads();
  ++live_allocations();
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return rounded < bytes ? nullptr
                         : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}
inline void* counted_allocation_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const data = counted_allocation(bytes, alignment)) {
    return data;
  }
  throw std::bad_alloc();
}
[[gnu::noinline]] inline void counted_free(void* data) noexcept {
  if (data != nullptr) --live_allocations();
  std::free(data);
}

}  // namespace weftline::testing

// All forms: a sanitizer's runtime has its own of each, which must not mix with these.
// NOLINTBEGIN(misc-definitions-in-headers): for one source only
void* operator new(std::size_t bytes) {
  return weftline::testing::counted_allocation_or_throw(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes) {
  return weftline::testing::counted_allocation_or_throw(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return weftline::testing::counted_allocation_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return weftline::testing::counted_allocation_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return weftline::testing::counted_allocation(bytes, alignof(std::max_align_t));
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return weftline::testing::counted_allocation(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return weftline::testing::counted_allocation(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t&) noexcept {
  return weftline::testing::counted_allocation(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { weftline::testing::counted_free(data); }
void operator delete[](void* data) noexcept { weftline::testing::counted_free(data); }
void operator delete(void* data, std::size_t) noexcept { weftline::testing::counted_free(data); }
void operator delete[](void* data, std::size_t) noexcept { weftline::testing::counted_free(data); }
void operator delete(void* data, std::align_val_t) noexcept {
  weftline::testing::counted_free(data);
}
void operator delete[](void* data, std::align_val_t) noexcept {
  weftline::testing::counted_free(data);
}
void operator delete(void* data, std::size_t, std::align_val_t) noexcept {
  weftline::testing::counted_free(data);
}
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept {
  weftline::testing::counted_free(data);
}
void operator delete(void* data, const std::nothrow_t&) noexcept {
  weftline::testing::counted_free(data);
}
void operator delete[](void* data, const std::nothrow_t&) noexcept {
  weftline::testing::counted_free(data);
}
// NOLINTEND(misc-definitions-in-headers)
