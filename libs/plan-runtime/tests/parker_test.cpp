// SPDX-License-Identifier: Apache-2.0
#include "parker.hpp"

#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "weftline/core/time.hpp"

using weftline::runtime::Parker;

TEST_CASE("a wake before the park is not lost") {
  Parker parker;
  parker.wake();
  parker.park({});  // returns at once
  CHECK(parker.take_notification());
  CHECK_FALSE(parker.take_notification());
}

TEST_CASE("a park ends at its deadline") {
  Parker parker;
  const weftline::RealtimeClock clock;
  const std::int64_t deadline = clock.now_ns() + 2'000'000;
  while (clock.now_ns() < deadline) parker.park(deadline);
  CHECK_FALSE(parker.take_notification());
}

TEST_CASE("two threads hand a turn back and forth by parking only") {
  constexpr int kTurns = 20'000;
  Parker here;
  Parker there;
  std::atomic<int> turn{0};
  const auto play = [&turn](Parker& mine, Parker& other, int parity) {
    for (int round = parity; round < kTurns; round += 2) {
      while (turn.load(std::memory_order_seq_cst) != round) {
        if (mine.take_notification() || turn.load(std::memory_order_seq_cst) == round) continue;
        mine.park({});
      }
      turn.store(round + 1, std::memory_order_seq_cst);
      other.wake();
    }
  };
  std::thread second([&] { play(there, here, 1); });
  play(here, there, 0);
  second.join();
  CHECK(turn == kTurns);
}
