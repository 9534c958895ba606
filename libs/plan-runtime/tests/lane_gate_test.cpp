// SPDX-License-Identifier: Apache-2.0
//
// The gate between lanes and the controller. What the controller changes while the gate is closed
// is plain memory here: the thread sanitizer finds a lane that is still inside.
#include "lane_gate.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cstddef>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "weftline/testing/bounded_wait.hpp"

using namespace weftline;
using runtime::LaneGate;
using runtime::Parker;

namespace {

/// Steps like a lane does: looks at the gate, works, sleeps when it is told to.
class SmallLane {
 public:
  SmallLane(LaneGate& gate, bool sleeps) : gate_(gate), sleeps_(sleeps) {}
  ~SmallLane() { join(); }
  SmallLane(const SmallLane&) = delete;
  SmallLane& operator=(const SmallLane&) = delete;

  void start(const std::uint64_t& shared) {
    gate_.enter();
    thread_ = std::thread([this, &shared] {
      while (gate_.open() || gate_.pass()) {
        ++steps_;
        seen_ = shared;
        looks_.store(looks_.load() + 1);
        if (!sleeps_ || parker_.take_notification() || !gate_.open()) continue;
        parker_.park({});
      }
      gate_.leave();
    });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  Parker& parker() { return parker_; }
  /// Of the lane's thread: only while it is not inside.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  /// Any thread.
  [[nodiscard]] std::uint64_t looks() const { return looks_.load(); }

 private:
  LaneGate& gate_;
  const bool sleeps_;
  Parker parker_{};
  std::uint64_t steps_{0};
  std::uint64_t seen_{0};
  std::atomic<std::uint64_t> looks_{0};
  std::thread thread_{};
};

struct Lanes {
  LaneGate gate{};
  std::uint64_t shared{0};
  std::vector<std::unique_ptr<SmallLane>> lanes{};

  explicit Lanes(std::size_t count, bool sleep = false) {
    for (std::size_t lane = 0; lane < count; ++lane) {
      lanes.push_back(std::make_unique<SmallLane>(gate, sleep || lane % 2 == 1));
      gate.add_lane(lanes.back()->parker());
    }
    for (const auto& lane : lanes) lane->start(shared);
  }
  ~Lanes() { gate.stop(); }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
};

}  // namespace

TEST_CASE("no lane works while the gate is paused, and each sees what was changed meanwhile") {
  Lanes all(4);
  for (std::uint64_t round = 1; round <= 40; ++round) {
    REQUIRE(all.gate.pause());
    std::vector<std::uint64_t> before;
    for (const auto& lane : all.lanes) before.push_back(lane->steps());
    all.shared = round;
    for (int look = 0; look < 100; ++look) std::this_thread::yield();
    for (std::size_t lane = 0; lane < before.size(); ++lane) {
      REQUIRE(all.lanes[lane]->steps() == before[lane]);
    }
    all.gate.resume();
    for (const auto& lane : all.lanes) {
      const std::uint64_t looks = lane->looks();
      REQUIRE(testing::eventually([&] {
        lane->parker().wake();
        return lane->looks() > looks;
      }));
    }
  }
  REQUIRE(all.gate.pause());
  for (const auto& lane : all.lanes) CHECK(lane->seen() == 40);
  all.gate.resume();
}

TEST_CASE("a pause wakes lanes that sleep, and returns when the last activation has") {
  Lanes all(3, true);
  REQUIRE(testing::eventually([&] {
    for (const auto& lane : all.lanes) {
      if (lane->looks() == 0) return false;
    }
    return true;
  }));
  REQUIRE(all.gate.pause());
  all.gate.resume();
}

TEST_CASE("a stop ends lanes that wait at the gate, and the pause that waits for one that hangs") {
  Lanes all(2);
  // A lane that never comes to the gate.
  all.gate.enter();
  std::thread stopper([&] {
    static_cast<void>(testing::eventually([&] { return !all.gate.open(); }));
    all.gate.stop();
  });
  CHECK_FALSE(all.gate.pause());
  stopper.join();
  for (const auto& lane : all.lanes) lane->join();
  CHECK(all.gate.stopping());
  CHECK_FALSE(all.gate.pause());
  all.gate.leave();
}

TEST_CASE("pauses and stops in any order leave nobody waiting") {
  const auto seed = GENERATE(range(0, 10));
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  Lanes all(1 + random() % 4, random() % 2 == 0);
  std::thread stopper([&, spins = random() % 200] {
    for (std::uint32_t spin = 0; spin < spins; ++spin) std::this_thread::yield();
    all.gate.stop();
  });
  while (all.gate.pause()) {
    ++all.shared;
    all.gate.resume();
  }
  stopper.join();
  for (const auto& lane : all.lanes) lane->join();
}
