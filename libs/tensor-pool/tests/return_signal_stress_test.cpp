// SPDX-License-Identifier: Apache-2.0
#include "return_signal.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "in_step.hpp"

namespace weftline {
namespace {

// With release and acquire in place of sequential consistency some thousand rounds are lost.
TEST_CASE("of a return and an arming at the same time at least one sees the other") {
  constexpr int kOver = -1;
  Rounds rounds(1'000'000);
  ReturnSignal signal;
  int wakes = 0;  // written by the returner before it says done
  signal.set({[](void* context) noexcept { ++*static_cast<int*>(context); }, &wakes});
  alignas(64) std::atomic<bool> returned{false};
  alignas(64) std::atomic<int> started{0};
  alignas(64) std::atomic<int> done{0};
  std::jthread returner([&] {
    for (int round = 0; await_change(started, round) == round + 1; ++round) {
      returned.store(true);
      signal.notify();
      done.store(round + 1, std::memory_order_release);
    }
  });
  int lost = 0;
  int delay = 0;
  int wakes_before = 0;
  bool answered = true;
  while (rounds.next()) {
    const int round = static_cast<int>(rounds.begun());
    started.store(round, std::memory_order_release);
    dawdle(delay);
    signal.arm();
    const bool seen = returned.load();
    answered = await_change(done, round - 1) == round;
    if (!answered) break;
    const bool woken = wakes != wakes_before;
    if (!seen && !woken) ++lost;
    // Towards the point where both see each other.
    delay = std::clamp(delay + (woken ? 1 : 0) - (seen ? 1 : 0), 0, 2000);
    signal.disarm();
    returned.store(false, std::memory_order_relaxed);
    wakes_before = wakes;
  }
  started.store(kOver, std::memory_order_release);
  CHECK(answered);
  CHECK(lost == 0);
}

}  // namespace
}  // namespace weftline
