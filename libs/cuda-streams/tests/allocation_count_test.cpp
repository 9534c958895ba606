// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/allocation_count.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <thread>

namespace weftline::testing {

// Through function pointers: a compiler may leave out a new that it can see being deleted.
TEST_CASE("every form of new is counted once, by thread and for all threads") {
  struct alignas(128) Wide {
    std::byte bytes[128];
  };
  void* (*volatile plain)(std::size_t) = &::operator new;
  void* (*volatile array)(std::size_t) = &::operator new[];
  void* (*volatile aligned)(std::size_t, std::align_val_t) = &::operator new;
  void* (*volatile quiet)(std::size_t, const std::nothrow_t&) = &::operator new[];
  const std::align_val_t alignment{alignof(Wide)};

  const std::uint64_t mine = allocations_of_this_thread();
  const std::uint64_t all = allocations_of_all_threads();
  ::operator delete(plain(0));
  ::operator delete[](array(3));
  void* const wide = aligned(1, alignment);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(wide) % alignof(Wide) == 0;
  ::operator delete(wide, alignment);
  ::operator delete[](quiet(5, std::nothrow));
  const std::uint64_t mine_after = allocations_of_this_thread();
  const std::uint64_t all_after = allocations_of_all_threads();
  CHECK(is_aligned);
  CHECK(mine_after - mine == 4);
  CHECK(all_after - all == 4);
}

TEST_CASE("an allocation of another thread counts for all threads only") {
  void* (*volatile plain)(std::size_t) = &::operator new;
  std::uint64_t theirs = 0;
  const std::uint64_t all = allocations_of_all_threads();
  std::thread other([&] {
    ::operator delete(plain(1));
    theirs = allocations_of_this_thread();
  });
  const std::uint64_t mine = allocations_of_this_thread();
  other.join();
  const std::uint64_t mine_after = allocations_of_this_thread();
  const std::uint64_t all_after = allocations_of_all_threads();
  CHECK(theirs == 1);
  CHECK(mine_after == mine);
  CHECK(all_after - all >= 2);  // and the thread's own start
}

TEST_CASE("more than there can be is refused, not rounded to nothing") {
  void* (*volatile quiet)(std::size_t, const std::nothrow_t&) = &::operator new;
  CHECK(quiet(~std::size_t{0}, std::nothrow) == nullptr);
}

}  // namespace weftline::testing
