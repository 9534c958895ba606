// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/clock_driver.hpp"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <memory>
#include <utility>

#include "weftline/core/synthetic_clock.hpp"

using namespace weftline;
using namespace std::chrono_literals;

namespace {

ClockDriver::Listener counting(int& calls) {
  return {[](void* count) noexcept { ++*static_cast<int*>(count); }, &calls};
}

}  // namespace

TEST_CASE("a driven clock stands still until it is advanced, and never goes back") {
  const auto driver = std::make_shared<ClockDriver>(100);
  const SyntheticClock clock(driver);
  CHECK(clock.now_ns() == 100);
  CHECK_FALSE(clock.independent_progress());
  CHECK(clock.driver() == driver.get());
  CHECK(driver->advance_to(150).has_value());
  CHECK(driver->advance(25ns).has_value());
  CHECK(clock.now_ns() == 175);
  CHECK(driver->advance_to(175).has_value());
  CHECK(driver->advance_to(174).error().token == "CLOCK_NOT_FORWARD");
  CHECK(driver->advance(-1ns).error().token == "CLOCK_NOT_FORWARD");
  CHECK(clock.now_ns() == 175);
}

TEST_CASE("a driven clock refuses a step beyond the last time") {
  ClockDriver driver(std::numeric_limits<std::int64_t>::max() - 5);
  CHECK(driver.advance(6ns).error().token == "CLOCK_EXHAUSTED");
  CHECK(driver.advance(5ns).has_value());
}

TEST_CASE("an advance calls the listeners that are subscribed, after the time has gone on") {
  ClockDriver driver;
  int first = 0;
  int second = 0;
  auto kept = driver.subscribe(counting(first));
  {
    const auto ended = driver.subscribe(counting(second));
    REQUIRE(driver.advance(1ns).has_value());
  }
  REQUIRE(driver.advance(1ns).has_value());
  CHECK(first == 2);
  CHECK(second == 1);
  ClockDriver::Subscription moved = std::move(kept);
  REQUIRE(driver.advance(1ns).has_value());
  CHECK(first == 3);
  moved = {};
  REQUIRE(driver.advance(1ns).has_value());
  CHECK(first == 3);

  struct Look {
    ClockDriver* driver;
    std::int64_t seen;
  } look{&driver, 0};
  const auto looking = driver.subscribe({[](void* it) noexcept {
                                           auto& looked = *static_cast<Look*>(it);
                                           looked.seen = looked.driver->now_ns();
                                         },
                                         &look});
  REQUIRE(driver.advance_to(50).has_value());
  CHECK(look.seen == 50);
  CHECK_FALSE(driver.advance_to(49).has_value());
  CHECK(look.seen == 50);
}
