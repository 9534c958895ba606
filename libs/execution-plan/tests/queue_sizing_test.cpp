// SPDX-License-Identifier: Apache-2.0
#include "weftline/plan/queue_sizing.hpp"

#include <catch2/catch_test_macros.hpp>
#include <vector>

namespace weftline {
namespace {

constexpr std::uint64_t kMax = ~std::uint64_t{0};

Rational fraction(std::uint64_t numerator, std::uint64_t denominator = 1) {
  return Rational::make(numerator, denominator).value();
}

TEST_CASE("a queue holds ceil(ceil(rate * horizon) * headroom), and not less than its floor") {
  const auto size = size_queue(fraction(1'000), fraction(1, 60), fraction(3, 2), 1);
  REQUIRE(size);
  CHECK(size->nominal_arrivals == 17);
  CHECK(size->recommendation == 26);
  CHECK(size->depth == 26);
  CHECK(size_queue(fraction(60), fraction(1, 15), fraction(2), 9)->depth == 9);
  CHECK(size_queue(fraction(60), fraction(1, 15), fraction(2), 8)->depth == 8);
}

TEST_CASE("a size beyond 64 bits is refused, one at the end is not") {
  CHECK(size_queue(fraction(kMax), fraction(1), fraction(1), 1)->depth == kMax);
  CHECK(size_queue(fraction(kMax), fraction(kMax - 1, kMax), fraction(1), 1)->depth == kMax - 1);
  CHECK(size_queue(fraction(kMax), fraction(2), fraction(1), 1).error().code ==
        ErrorCode::kArithmeticOverflow);
  CHECK(size_queue(fraction(kMax), fraction(1), fraction(kMax, kMax - 1), 1).error().code ==
        ErrorCode::kArithmeticOverflow);
}

TEST_CASE("views of the same entries count once, entries that live together add up") {
  using Contributor = HardFloorContributorRecord;
  const auto entry = [](std::uint32_t scenario, std::uint32_t group, std::uint32_t entries) {
    return Contributor{.scenario = scenario, .group = group, .entries = entries};
  };
  CHECK(compose_hard_floor({}) == 0);
  CHECK(compose_hard_floor(std::vector{entry(0, 0, 3), entry(0, 0, 5), entry(0, 0, 4)}) == 5);
  CHECK(compose_hard_floor(std::vector{entry(0, 0, 3), entry(0, 1, 5)}) == 8);
  CHECK(compose_hard_floor(std::vector{entry(0, 0, 3), entry(0, 1, 5), entry(1, 0, 7)}) == 8);
  CHECK(compose_hard_floor(std::vector{entry(1, 0, 9), entry(0, 1, 5), entry(0, 0, 3)}) == 9);
  const std::uint32_t most = 0xffff'ffff;
  CHECK(compose_hard_floor(std::vector{entry(0, 0, most), entry(0, 1, most)}) ==
        2 * std::uint64_t{most});
}

TEST_CASE("arms of one output share their slots, outputs and what edges keep add up") {
  const PortRef first{VertexId{0}, 0};
  const PortRef second{VertexId{1}, 0};
  const auto arm = [](PortRef source, std::uint32_t active, std::uint32_t admitted,
                      std::uint32_t own) {
    return PoolCapacityDependencyRecord{.source = source,
                                        .active_shared_slots = active,
                                        .admitted_shared_slots = admitted,
                                        .own_slots = own};
  };
  const PoolSlots slots = count_pool_slots(
      2, std::vector{arm(first, 9, 17, 1), arm(first, 5, 40, 2), arm(second, 3, 3, 0)});
  CHECK(slots.active == 2 + 9 + 1 + 2 + 3);
  CHECK(slots.admitted == 2 + 40 + 1 + 2 + 3);
  CHECK(count_pool_slots(1, {}).active == 1);
}

}  // namespace
}  // namespace weftline
