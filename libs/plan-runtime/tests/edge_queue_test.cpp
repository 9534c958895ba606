// SPDX-License-Identifier: Apache-2.0
#include "edge_queue.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <deque>
#include <random>
#include <thread>

using namespace weftline;
using runtime::EdgeQueue;
using runtime::Parker;

namespace {

EdgeQueue::Options options(QueuePolicy policy, std::uint32_t depth, Parker* producer = nullptr,
                           Parker* consumer = nullptr) {
  return {.ops = &payload_ops<std::uint64_t>(),
          .policy = policy,
          .depth = depth,
          .producer = producer,
          .consumer = consumer};
}

void push(EdgeQueue& queue, std::uint64_t value) {
  SampleMetadata metadata{};
  metadata.sequence = value;
  queue.push(&value, true, [&] { return metadata; });
}

std::uint64_t value_of(const EdgeQueue::Front& front) {
  REQUIRE(front.metadata->sequence == *static_cast<std::uint64_t*>(front.value));
  return front.metadata->sequence;
}

}  // namespace

TEST_CASE("a queue behaves like its model under random pushes and pops") {
  const unsigned seed = GENERATE(range(1U, 13U));
  std::mt19937 random(seed);
  const auto policy = seed % 2 == 0 ? QueuePolicy::kBlocking : QueuePolicy::kDropOldest;
  const std::uint32_t depth = 1 + static_cast<std::uint32_t>(random() % 5);
  EdgeQueue queue(options(policy, depth));
  std::deque<std::uint64_t> model;
  std::uint64_t next = 0;
  std::uint64_t dropped = 0;
  bool claimed = false;  // the model's front is in the consumer's hands and can't be dropped
  for (int step = 0; step < 1'000; ++step) {
    if (random() % 2 == 0) {
      const std::size_t queued =
          model.size() - (claimed && policy == QueuePolicy::kDropOldest ? 1 : 0);
      REQUIRE(queue.has_room(1) == (policy == QueuePolicy::kDropOldest || queued < depth));
      if (!queue.has_room(1)) continue;
      if (queued == depth) {
        model.erase(model.begin() + (claimed ? 1 : 0));
        ++dropped;
      }
      push(queue, next);
      model.push_back(next++);
    } else {
      const auto front = queue.front();
      REQUIRE(static_cast<bool>(front) == !model.empty());
      if (!front) continue;
      REQUIRE(value_of(front) == model.front());
      claimed = random() % 2 == 0;
      if (claimed) continue;  // looked at, left in place
      queue.pop();
      model.pop_front();
    }
    REQUIRE(queue.dropped() == dropped);
    REQUIRE_FALSE(queue.ended());
  }
  queue.close();
  while (!model.empty()) {
    REQUIRE_FALSE(queue.ended());
    REQUIRE(value_of(queue.front()) == model.front());
    queue.pop();
    model.pop_front();
  }
  CHECK(queue.ended());
  CHECK(queue.depth_high_water() <= depth);
}

TEST_CASE("room is counted for as many samples as are asked for") {
  EdgeQueue queue(options(QueuePolicy::kBlocking, 3));
  CHECK(queue.has_room(3));
  CHECK_FALSE(queue.has_room(4));
  push(queue, 0);
  CHECK(queue.has_room(2));
  CHECK_FALSE(queue.has_room(3));
}

namespace {

/// Counts how many of it exist.
struct Guest {
  static inline std::atomic<int> alive{0};
  Guest() noexcept { ++alive; }
  Guest(const Guest&) noexcept { ++alive; }
  Guest& operator=(const Guest&) noexcept = default;
  ~Guest() { --alive; }
};

constexpr PayloadOps kGuestOps{
    sizeof(Guest),
    alignof(Guest),
    false,
    [](void* to, const void* from) noexcept { ::new (to) Guest(*static_cast<const Guest*>(from)); },
    [](void* to, void* from) noexcept { ::new (to) Guest(*static_cast<Guest*>(from)); },
    [](void* to, void* from) noexcept { *static_cast<Guest*>(to) = *static_cast<Guest*>(from); },
    [](void* value) noexcept { static_cast<Guest*>(value)->~Guest(); },
};

}  // namespace

TEST_CASE("every value that enters a queue is destroyed once, popped, dropped or left behind") {
  const auto policy = GENERATE(QueuePolicy::kBlocking, QueuePolicy::kDropOldest);
  {
    EdgeQueue queue({.ops = &kGuestOps,
                     .policy = policy,
                     .depth = 3,
                     .producer = nullptr,
                     .consumer = nullptr});
    for (int value = 0; value < 10; ++value) {
      Guest guest;
      if (queue.has_room(1)) queue.push(&guest, false, [] { return SampleMetadata{}; });
    }
    CHECK(Guest::alive == 3);
    REQUIRE(queue.front());
    queue.pop();
    CHECK(Guest::alive == 2);
    REQUIRE(queue.front());  // claimed, and left so
  }
  CHECK(Guest::alive == 0);
}

TEST_CASE("two threads lose nothing on a blocking queue, and park without missing a wake") {
  const std::uint32_t depth = GENERATE(1U, 2U, 7U);
  constexpr std::uint64_t kSamples = 30'000;
  Parker producer;
  Parker consumer;
  EdgeQueue queue(options(QueuePolicy::kBlocking, depth, &producer, &consumer));
  std::thread writer([&] {
    for (std::uint64_t value = 0; value < kSamples; ++value) {
      while (!queue.has_room(1)) {
        if (producer.take_notification() || queue.has_room(1)) continue;
        producer.park({});  // a lost wake hangs here, and the watchdog ends the test
      }
      push(queue, value);
    }
    queue.close();
  });
  std::uint64_t wanted = 0;
  bool in_order = true;
  while (!queue.ended()) {
    if (const auto front = queue.front()) {
      in_order = in_order && *static_cast<std::uint64_t*>(front.value) == wanted++;
      queue.pop();
    } else if (!consumer.take_notification() && !queue.front() && !queue.ended()) {
      consumer.park({});
    }
  }
  writer.join();
  CHECK(in_order);
  CHECK(wanted == kSamples);
}

TEST_CASE("two threads on a drop-oldest queue: increasing values, whole, and all accounted for") {
  const std::uint32_t depth = GENERATE(1U, 2U, 7U);
  constexpr std::uint64_t kSamples = 60'000;
  Parker producer;
  Parker consumer;
  EdgeQueue queue(options(QueuePolicy::kDropOldest, depth, &producer, &consumer));
  std::thread writer([&] {
    for (std::uint64_t value = 1; value <= kSamples; ++value) push(queue, value);
    queue.close();
  });
  std::uint64_t received = 0;
  std::uint64_t last = 0;
  bool increasing = true;
  bool whole = true;
  while (!queue.ended()) {
    const auto front = queue.front();
    if (!front) continue;
    const std::uint64_t value = *static_cast<std::uint64_t*>(front.value);
    whole = whole && front.metadata->sequence == value;
    increasing = increasing && value > last;
    last = value;
    ++received;
    queue.pop();
  }
  writer.join();
  CHECK(increasing);
  CHECK(whole);
  CHECK(last == kSamples);  // the newest is never the one dropped
  CHECK(received + queue.dropped() == kSamples);
}
