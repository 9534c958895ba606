// SPDX-License-Identifier: Apache-2.0
#include "return_stack.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>
#include <vector>

#include "in_step.hpp"

namespace weftline {
namespace {

/// What a stack holds; it has no life of its own here.
class Item final : public TensorBacking {
  void last_reference_dropped() noexcept override {}
};

SlotReturnCallback counting(int& calls) {
  return {[](void* context) noexcept { ++*static_cast<int*>(context); }, &calls};
}

TEST_CASE("what was pushed is taken all at once, the last one first") {
  ReturnStack stack;
  std::array<Item, 3> items;
  CHECK(stack.take_all() == nullptr);
  for (Item& item : items) CHECK(stack.push(item));
  TensorBacking* taken = stack.take_all();
  for (int index = 2; index >= 0; --index) {
    REQUIRE(taken == &items[static_cast<std::size_t>(index)]);
    taken = taken->next;
  }
  CHECK(taken == nullptr);
  CHECK(stack.take_all() == nullptr);
}

TEST_CASE(
    "an armed stack calls back once, at the next push, and can't be armed while it holds one") {
  ReturnStack stack;
  std::array<Item, 2> items;
  int calls = 0;
  CHECK(stack.arm());  // without a callback nobody is called
  CHECK(stack.push(items[0]));
  CHECK_FALSE(stack.arm());
  CHECK(stack.take_all() == &items[0]);
  stack.set_callback(counting(calls));
  CHECK(stack.arm());
  CHECK(stack.arm());
  CHECK(stack.take_all() == nullptr);  // and it stays armed
  CHECK(stack.push(items[0]));
  CHECK(calls == 1);
  CHECK_FALSE(stack.arm());
  CHECK(stack.push(items[1]));
  CHECK(calls == 1);
  CHECK(stack.take_all() == &items[1]);
  CHECK(items[1].next == &items[0]);
  CHECK(items[0].next == nullptr);
}

TEST_CASE("a callback that is replaced is not called any more, and the stack is not armed") {
  ReturnStack stack;
  Item item;
  int calls_before = 0;
  int calls_after = 0;
  stack.set_callback(counting(calls_before));
  CHECK(stack.arm());
  stack.set_callback(counting(calls_after));
  CHECK(stack.push(item));
  CHECK(calls_before == 0);
  CHECK(calls_after == 0);
}

TEST_CASE("a closed stack gives out what it holds and takes nothing more") {
  ReturnStack stack;
  std::array<Item, 2> items;
  CHECK(stack.push(items[0]));
  CHECK(stack.close() == &items[0]);
  CHECK_FALSE(stack.push(items[1]));
  CHECK_FALSE(stack.push(items[0]));
}

TEST_CASE("of a return and an arming at the same time exactly one sees the other") {
  constexpr int kOver = -1;
  Rounds rounds(1'000'000);
  ReturnStack stack;
  Item item;
  int calls = 0;  // written by the returner before it says done
  stack.set_callback(counting(calls));
  alignas(64) std::atomic<int> started{0};
  alignas(64) std::atomic<int> done{0};
  std::jthread returner([&] {
    for (int round = 0; await_change(started, round) == round + 1; ++round) {
      static_cast<void>(stack.push(item));
      done.store(round + 1, std::memory_order_release);
    }
  });
  int wrong = 0;
  int delay = 0;
  int calls_before = 0;
  bool answered = true;
  while (rounds.next()) {
    const int round = static_cast<int>(rounds.begun());
    started.store(round, std::memory_order_release);
    dawdle(delay);
    const bool armed = stack.arm();
    answered = await_change(done, round - 1) == round;
    if (!answered) break;
    const bool called = calls != calls_before;
    if (called != armed) ++wrong;
    if (stack.take_all() != &item) ++wrong;
    // Towards the point where both meet.
    delay = std::clamp(delay + (called ? 1 : -1), 0, 2000);
    calls_before = calls;
  }
  started.store(kOver, std::memory_order_release);
  CHECK(answered);
  CHECK(wrong == 0);
}

TEST_CASE("nothing that several threads push is lost or taken twice") {
  constexpr int kThreads = 3;
  constexpr int kItems = 4;  // of each thread
  Rounds rounds(100'000);
  ReturnStack stack;
  struct Mine {
    alignas(64) std::array<Item, kItems> items{};
    std::array<std::atomic<bool>, kItems> out{};
  };
  std::vector<Mine> mine(kThreads);
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> pushes{0};
  std::vector<std::jthread> threads;
  for (Mine& own : mine) {
    for (auto& out : own.out) out = true;
    threads.emplace_back([&] {
      while (!over.load(std::memory_order_relaxed)) {
        for (int index = 0; index < kItems; ++index) {
          const auto at = static_cast<std::size_t>(index);
          if (!own.out[at].exchange(false, std::memory_order_acquire)) continue;
          static_cast<void>(stack.push(own.items[at]));
          pushes.fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }
  std::uint64_t takes = 0;
  int twice = 0;
  const auto take = [&] {
    for (TensorBacking* taken = stack.take_all(); taken != nullptr;) {
      TensorBacking* const next = taken->next;
      for (Mine& own : mine) {
        for (std::size_t index = 0; index < kItems; ++index) {
          if (taken == &own.items[index] && own.out[index].exchange(true)) ++twice;
        }
      }
      ++takes;
      taken = next;
    }
  };
  while (rounds.next()) take();
  over = true;
  threads.clear();
  take();
  CHECK(twice == 0);
  CHECK(takes == pushes);
}

}  // namespace
}  // namespace weftline
