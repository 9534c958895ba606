// SPDX-License-Identifier: Apache-2.0
#include "trace_ring.hpp"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <thread>

namespace weftline {
namespace {

using runtime::TraceRing;

/// Every field says the number, so that a mixture of two shows.
TraceEvent numbered(std::uint64_t number) {
  const auto small = static_cast<std::uint32_t>(number & 0xff'ffff);
  return {.kind = static_cast<TraceEventKind>(number % 8),
          .port = small,
          .vertex = VertexId{small},
          .begin_ns = static_cast<std::int64_t>(number),
          .end_ns = -static_cast<std::int64_t>(number),
          .value = number};
}

}  // namespace

TEST_CASE("a ring keeps the last events in order and counts those that are gone") {
  TraceRing ring(5);  // 8
  std::vector<TraceEvent> events{numbered(99)};
  CHECK(ring.read(events) == 0);
  CHECK(events.empty());
  for (std::uint64_t number = 0; number < 3; ++number) ring.record(numbered(number));
  CHECK(ring.read(events) == 0);
  CHECK(events == std::vector<TraceEvent>{numbered(0), numbered(1), numbered(2)});
  for (std::uint64_t number = 3; number < 21; ++number) ring.record(numbered(number));
  CHECK(ring.read(events) == 13);
  REQUIRE(events.size() == 8);
  for (std::size_t index = 0; index < events.size(); ++index) {
    CHECK(events[index] == numbered(13 + index));
  }
}

TEST_CASE("a ring keeps ports and operators apart, and negative times") {
  TraceRing ring(1);
  const TraceEvent event{.kind = TraceEventKind::kPark,
                         .port = 0xff'ffff,
                         .vertex = VertexId{},
                         .begin_ns = -1,
                         .end_ns = INT64_MIN,
                         .value = UINT64_MAX};
  ring.record(event);
  std::vector<TraceEvent> events;
  CHECK(ring.read(events) == 0);
  CHECK(events == std::vector<TraceEvent>{event});
}

TEST_CASE("a reader beside the lane sees whole events only, one after the other") {
  constexpr std::uint64_t kCapacity = 4'096;
  constexpr std::uint64_t kLooks = 400;  // in which the lane had gone on
  constexpr std::uint64_t kMost = 400'000'000;
  TraceRing ring(kCapacity);
  std::atomic<std::uint64_t> looks{0};
  std::uint64_t broken = 0;
  std::thread reader([&] {
    std::vector<TraceEvent> events;
    std::uint64_t last = 0;
    while (looks.load() < kLooks) {
      std::uint64_t number = ring.read(events);
      for (const TraceEvent& event : events) {
        broken += event == numbered(number) ? 0 : 1;
        ++number;
      }
      if (number > last + kCapacity) looks.fetch_add(1);
      last = number;
    }
  });
  std::uint64_t number = 0;
  while (looks.load(std::memory_order_relaxed) < kLooks && number < kMost) {
    ring.record(numbered(number++));
  }
  looks.store(kLooks);
  reader.join();
  CHECK(broken == 0);
  std::vector<TraceEvent> events;
  CHECK(ring.read(events) == number - kCapacity);
  CHECK(events.back() == numbered(number - 1));
}

}  // namespace weftline
