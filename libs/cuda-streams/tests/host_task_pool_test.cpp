// SPDX-License-Identifier: Apache-2.0
#include "host_task_pool.hpp"

#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace weftline::cuda_streams {

TEST_CASE("a host task holds its captures in place and runs what it was given") {
  std::array<int, 40> values{};
  values[39] = 4;
  int sum = 0;
  HostTask task([values, to = &sum] { *to += values[39]; });
  CHECK(task);
  HostTask copy = task;
  task();
  copy();
  CHECK(sum == 8);
  CHECK_FALSE(HostTask{});
}

TEST_CASE("a thread is in a host task while it runs one, also one inside another") {
  bool seen = false;
  bool seen_after_inner = false;
  HostTask inner([to = &seen] { *to = in_host_task(); });
  HostTask outer([to = &inner, after = &seen_after_inner] {
    (*to)();
    *after = in_host_task();
  });
  CHECK_FALSE(in_host_task());
  outer();
  CHECK(seen);
  CHECK(seen_after_inner);
  CHECK_FALSE(in_host_task());
}

TEST_CASE(
    "a pool of host tasks refuses when all are in flight, and takes one for each given back") {
  const auto pool = std::make_shared<HostTaskPool>();
  int runs = 0;
  std::vector<HostTaskPool::Slot*> slots;
  for (std::size_t i = 0; i < HostTaskPool::kCapacity; ++i) {
    slots.push_back(pool->take([count = &runs] { ++*count; }));
    REQUIRE(slots.back() != nullptr);
  }
  CHECK(pool->take([] {}) == nullptr);

  HostTaskPool::run(slots[0]);
  HostTaskPool::give_back(slots[1]);
  CHECK(runs == 1);
  slots[0] = pool->take([count = &runs] { *count += 100; });
  slots[1] = pool->take([count = &runs] { *count += 100; });
  REQUIRE(slots[0] != nullptr);
  REQUIRE(slots[1] != nullptr);
  CHECK(pool->take([] {}) == nullptr);
  for (HostTaskPool::Slot* slot : slots) {
    HostTaskPool::run(slot);
  }
  CHECK(runs == 1 + 200 + static_cast<int>(HostTaskPool::kCapacity) - 2);
}

TEST_CASE("a task in flight outlives every other owner of its pool") {
  auto pool = std::make_shared<HostTaskPool>();
  const std::weak_ptr<HostTaskPool> watch = pool;
  bool ran = false;
  HostTaskPool::Slot* const slot = pool->take([to = &ran] { *to = true; });
  pool.reset();
  CHECK_FALSE(watch.expired());
  HostTaskPool::run(slot);
  CHECK(ran);
  CHECK(watch.expired());
}

TEST_CASE("threads that share a pool never share a slot") {
  const auto pool = std::make_shared<HostTaskPool>();
  std::atomic<int> runs{0};
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kRounds; ++i) {
          int mine = 0;
          HostTaskPool::Slot* const slot = pool->take([to = &mine, all = &runs] {
            ++*to;
            ++*all;
          });
          HostTaskPool::run(slot);
          wrong += mine == 1 ? 0 : 1;
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(runs == kThreads * kRounds);
}

}  // namespace weftline::cuda_streams
