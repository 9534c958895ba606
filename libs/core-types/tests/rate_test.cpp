// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/rate.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <numeric>
#include <random>

namespace weftline {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

/// A plain 256-bit number, least significant word first: the reference that shares no code with
/// Rational.
class Wide {
 public:
  Wide() = default;
  explicit Wide(std::uint64_t value)
      : words_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} {}

  friend Wide operator+(const Wide& a, const Wide& b) {
    Wide sum;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < a.words_.size(); ++i) {
      carry += std::uint64_t{a.words_[i]} + b.words_[i];
      sum.words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return sum;
  }
  friend Wide operator-(const Wide& a, const Wide& b) {
    Wide difference;
    std::int64_t carry = 0;
    for (std::size_t i = 0; i < a.words_.size(); ++i) {
      carry += std::int64_t{a.words_[i]} - b.words_[i];
      difference.words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return difference;
  }
  friend Wide operator*(const Wide& a, const Wide& b) {
    Wide product;
    for (std::size_t i = 0; i < a.words_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; i + j < a.words_.size(); ++j) {
        carry += std::uint64_t{a.words_[i]} * b.words_[j] + product.words_[i + j];
        product.words_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    return product;
  }
  friend bool operator<(const Wide& a, const Wide& b) {
    return std::lexicographical_compare(a.words_.rbegin(), a.words_.rend(), b.words_.rbegin(),
                                        b.words_.rend());
  }
  friend bool operator==(const Wide& a, const Wide& b) = default;

  [[nodiscard]] bool even() const { return words_[0] % 2 == 0; }
  [[nodiscard]] Wide half() const {
    Wide result;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const std::uint32_t above = i + 1 < words_.size() ? words_[i + 1] << 31 : 0;
      result.words_[i] = (words_[i] >> 1) | above;
    }
    return result;
  }

 private:
  std::array<std::uint32_t, 8> words_{};
};

Wide greatest_common_divisor(Wide a, Wide b) {
  if (a == Wide()) return b;
  if (b == Wide()) return a;
  Wide twos(1);
  while (a.even() && b.even()) {
    a = a.half();
    b = b.half();
    twos = twos + twos;
  }
  while (!(a == b)) {
    if (a.even()) {
      a = a.half();
    } else if (b.even()) {
      b = b.half();
    } else if (a < b) {
      b = b - a;
    } else {
      a = a - b;
    }
  }
  return a * twos;
}

/// True when numerator/denominator in lowest terms has both terms under 2^64.
bool fits(const Wide& numerator, const Wide& denominator) {
  const Wide limit = greatest_common_divisor(numerator, denominator) * Wide(kMax);
  return !(limit < numerator) && !(limit < denominator);
}

void check_against(const expected<Rational, Error>& result, const Wide& numerator,
                   const Wide& denominator) {
  REQUIRE(result.has_value() == fits(numerator, denominator));
  if (!result) {
    REQUIRE(result.error().code == ErrorCode::kArithmeticOverflow);
    REQUIRE(result.error().token == "RATIONAL_OVERFLOW");
    return;
  }
  REQUIRE(Wide(result->numerator()) * denominator == Wide(result->denominator()) * numerator);
  REQUIRE(std::gcd(result->numerator(), result->denominator()) == 1);
}

/// Small and large numbers, and those at the ends, equally likely.
class Numbers {
 public:
  std::uint64_t next() {
    const std::uint64_t bits = random_();
    switch (random_() % 8) {
      case 0:
        return bits % 4;
      case 1:
        return kMax - bits % 4;
      case 2:
        return std::uint64_t{1} << (bits % 64);
      default:
        return bits >> (random_() % 64);
    }
  }
  Rational fraction() { return Rational::make(next(), std::max<std::uint64_t>(next(), 1)).value(); }

 private:
  std::mt19937_64 random_{20240611};
};

constexpr int kRounds = 20'000;

TEST_CASE("a rational equals the fraction it was made from, in lowest terms") {
  Numbers numbers;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t numerator = numbers.next();
    const std::uint64_t denominator = std::max<std::uint64_t>(numbers.next(), 1);
    check_against(Rational::make(numerator, denominator), Wide(numerator), Wide(denominator));
  }
}

TEST_CASE("rational arithmetic is exact, and refused exactly when the result does not fit") {
  Numbers numbers;
  for (int round = 0; round < kRounds; ++round) {
    const Rational a = numbers.fraction();
    const Rational b = numbers.fraction();
    const Wide an(a.numerator());
    const Wide ad(a.denominator());
    const Wide bn(b.numerator());
    const Wide bd(b.denominator());
    check_against(a.multiply(b), an * bn, ad * bd);
    check_against(a.add(b), an * bd + bn * ad, ad * bd);
    if (b.numerator() != 0) check_against(a.divide(b), an * bd, ad * bn);
  }
}

TEST_CASE("rationals are ordered as their values") {
  Numbers numbers;
  for (int round = 0; round < kRounds; ++round) {
    const Rational a = numbers.fraction();
    const Rational b = numbers.fraction();
    const Wide left = Wide(a.numerator()) * Wide(b.denominator());
    const Wide right = Wide(b.numerator()) * Wide(a.denominator());
    REQUIRE((a < b) == (left < right));
    REQUIRE((a > b) == (right < left));
    REQUIRE((a == b) == (left == right));
  }
}

TEST_CASE("rounding a rational up gives the least whole number that is not below it") {
  Numbers numbers;
  for (int round = 0; round < kRounds; ++round) {
    const Rational a = numbers.fraction();
    const Rational up = Rational::make(a.ceil(), 1).value();
    REQUIRE(up >= a);
    if (a.ceil() > 0) REQUIRE(Rational::make(a.ceil() - 1, 1).value() < a);
  }
  CHECK(Rational::make(kMax, 1)->ceil() == kMax);
  CHECK(Rational::make(7, 2)->ceil() == 4);
  CHECK(Rational().ceil() == 0);
}

TEST_CASE("the product of two rationals is rounded up exactly, even where it has no 64-bit terms") {
  Numbers numbers;
  int without_terms = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Rational a = numbers.fraction();
    const Rational b = numbers.fraction();
    const Wide numerator = Wide(a.numerator()) * Wide(b.numerator());
    const Wide denominator = Wide(a.denominator()) * Wide(b.denominator());
    const auto whole = a.ceil_of_product(b);
    const bool beyond = Wide(kMax) * denominator < numerator;
    REQUIRE(whole.has_value() == !beyond);
    if (!whole) continue;
    REQUIRE_FALSE(Wide(*whole) * denominator < numerator);
    if (*whole > 0) REQUIRE(Wide(*whole - 1) * denominator < numerator);
    without_terms += a.multiply(b) ? 0 : 1;
  }
  CHECK(without_terms > 100);
  CHECK(Rational::make(kMax, 1)->ceil_of_product(Rational::make(1, 1).value()) == kMax);
  CHECK(Rational::make(kMax, 2)->ceil_of_product(Rational::make(3, 1).value()).error().token ==
        "RATIONAL_OVERFLOW");
}

TEST_CASE("a rational prints whole numbers without a denominator") {
  CHECK(Rational::make(6, 4)->to_string() == "3/2");
  CHECK(Rational::make(120, 2)->to_string() == "60");
  CHECK(Rational().to_string() == "0");
}

TEST_CASE("a zero denominator and a division by zero are refused with the values") {
  const auto made = Rational::make(3, 0);
  REQUIRE_FALSE(made);
  CHECK(made.error().to_string() ==
        "kInvalidArgument [RATIONAL_ZERO_DENOMINATOR]: fraction 3/0 has no value; give a positive "
        "denominator");
  const auto divided = Rational::make(3, 2)->divide(Rational());
  REQUIRE_FALSE(divided);
  CHECK(divided.error().token == "RATIONAL_DIVISION_BY_ZERO");
}

TEST_CASE("an overflow names both operands") {
  const auto sum = Rational::make(kMax, 1)->add(Rational::make(1, 2).value());
  REQUIRE_FALSE(sum);
  CHECK(sum.error().message ==
        "18446744073709551615 + 1/2 does not fit in 64-bit terms; use values with smaller terms");
}

TEST_CASE("a rate is its exact fraction, and zero is no rate") {
  CHECK(Rate::hz(60).as_rational()->to_string() == "60");
  CHECK(Rate::per(30'000, 1'001).as_rational()->to_string() == "30000/1001");
  for (const Rate rate :
       {Rate{}, Rate::hz(0), Rate::hz(-60), Rate::per(5, 0), Rate::per(0, 0), Rate::per(5, -1)}) {
    CHECK_FALSE(rate.valid());
    CHECK(rate.as_rational().error().token == "RATE_INVALID");
  }
}

template <class Number>
concept MakesRate = requires(Number number) { Rate::hz(number); };

TEST_CASE("a rate is made of whole numbers only") {
  CHECK(MakesRate<int>);
  CHECK(MakesRate<std::uint64_t>);
  CHECK_FALSE(MakesRate<double>);
}

TEST_CASE("a ratio and a horizon are their exact fractions, and zero is neither") {
  CHECK(RateRatio{2, 8}.as_rational()->to_string() == "1/4");
  CHECK(RateRatio{}.as_rational()->to_string() == "1");
  CHECK(RateRatio{0, 1}.as_rational().error().token == "RATE_RATIO_INVALID");
  CHECK(RateRatio{1, 0}.as_rational().error().token == "RATE_RATIO_INVALID");
  CHECK(Horizon::seconds(1, 15).as_rational()->to_string() == "1/15");
  CHECK(Horizon::milliseconds(20).as_rational()->to_string() == "1/50");
  for (const Horizon none : {Horizon{}, Horizon::seconds(1, 0), Horizon::seconds(-1, 15)}) {
    CHECK(none.as_rational().error().token == "HORIZON_INVALID");
  }
}

}  // namespace
}  // namespace weftline
