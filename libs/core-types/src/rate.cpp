// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/rate.hpp"

#include <limits>
#include <numeric>

namespace weftline {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr std::uint64_t kMaximum = std::numeric_limits<std::uint64_t>::max();

/// What was asked for, for the message of a refusal.
struct Operation {
  Rational left;
  std::string_view symbol;
  Rational right;
};

/// The fraction of two terms that are in lowest terms already.
expected<Rational, Error> checked(Uint128 numerator, Uint128 denominator, Operation operation) {
  if (numerator > kMaximum || denominator > kMaximum) {
    return fail(ErrorCode::kArithmeticOverflow, "RATIONAL_OVERFLOW",
                operation.left.to_string() + " " + std::string(operation.symbol) + " " +
                    operation.right.to_string() +
                    " does not fit in 64-bit terms; use values with smaller terms");
  }
  return Rational::make(static_cast<std::uint64_t>(numerator),
                        static_cast<std::uint64_t>(denominator));
}

/// n1/d1 * n2/d2. Reduced crosswise first, so that the products are in lowest terms.
expected<Rational, Error> product(std::uint64_t n1, std::uint64_t d1, std::uint64_t n2,
                                  std::uint64_t d2, Operation operation) {
  const std::uint64_t left = std::gcd(n1, d2);
  const std::uint64_t right = std::gcd(n2, d1);
  return checked(Uint128{n1 / left} * (n2 / right), Uint128{d1 / right} * (d2 / left), operation);
}

}  // namespace

expected<Rational, Error> Rational::make(std::uint64_t numerator, std::uint64_t denominator) {
  if (denominator == 0) {
    return fail(
        ErrorCode::kInvalidArgument, "RATIONAL_ZERO_DENOMINATOR",
        "fraction " + std::to_string(numerator) + "/0 has no value; give a positive denominator");
  }
  const std::uint64_t common = std::gcd(numerator, denominator);
  return Rational(numerator / common, denominator / common);
}

expected<Rational, Error> Rational::multiply(Rational other) const {
  return product(numerator_, denominator_, other.numerator_, other.denominator_,
                 {*this, "*", other});
}

expected<Rational, Error> Rational::divide(Rational other) const {
  if (other.numerator_ == 0) {
    return fail(ErrorCode::kInvalidArgument, "RATIONAL_DIVISION_BY_ZERO",
                to_string() + " / 0 has no value; give a positive divisor");
  }
  return product(numerator_, denominator_, other.denominator_, other.numerator_,
                 {*this, "/", other});
}

expected<Rational, Error> Rational::add(Rational other) const {
  const std::uint64_t common = std::gcd(denominator_, other.denominator_);
  const Uint128 left = Uint128{numerator_} * (other.denominator_ / common);
  const Uint128 right = Uint128{other.numerator_} * (denominator_ / common);
  // A sum that wraps does no harm: it needs coprime denominators whose product is past 64 bits, and
  // that is refused whatever the sum.
  const Uint128 sum = left + right;
  const std::uint64_t cancel = std::gcd(static_cast<std::uint64_t>(sum % common), common);
  return checked(sum / cancel, Uint128{denominator_ / common} * (other.denominator_ / cancel),
                 {*this, "+", other});
}

std::uint64_t Rational::ceil() const noexcept {
  return numerator_ / denominator_ + (numerator_ % denominator_ != 0 ? 1 : 0);
}

expected<std::uint64_t, Error> Rational::ceil_of_product(Rational other) const {
  const Uint128 numerator = Uint128{numerator_} * other.numerator_;
  const Uint128 denominator = Uint128{denominator_} * other.denominator_;
  const Uint128 whole = numerator / denominator + (numerator % denominator != 0 ? 1 : 0);
  if (whole > kMaximum) {
    return fail(ErrorCode::kArithmeticOverflow, "RATIONAL_OVERFLOW",
                to_string() + " * " + other.to_string() + " is more than " +
                    std::to_string(kMaximum) + "; use smaller values");
  }
  return static_cast<std::uint64_t>(whole);
}

std::string Rational::to_string() const {
  std::string text = std::to_string(numerator_);
  if (denominator_ != 1) text.append("/").append(std::to_string(denominator_));
  return text;
}

std::strong_ordering operator<=>(Rational a, Rational b) noexcept {
  const Uint128 left = Uint128{a.numerator_} * b.denominator_;
  const Uint128 right = Uint128{b.numerator_} * a.denominator_;
  if (left < right) return std::strong_ordering::less;
  if (left > right) return std::strong_ordering::greater;
  return std::strong_ordering::equal;
}

expected<Rational, Error> Rate::as_rational() const {
  if (!valid()) {
    return fail(ErrorCode::kInvalidArgument, "RATE_INVALID",
                "a rate of " + std::to_string(samples) + " samples per " + std::to_string(seconds) +
                    " s is none; give positive numbers");
  }
  return Rational::make(samples, seconds);
}

expected<Rational, Error> RateRatio::as_rational() const {
  if (!valid()) {
    return fail(ErrorCode::kInvalidArgument, "RATE_RATIO_INVALID",
                "a ratio of " + std::to_string(numerator) + " to " + std::to_string(denominator) +
                    " is none; give positive numbers");
  }
  return Rational::make(numerator, denominator);
}

expected<Rational, Error> Horizon::as_rational() const {
  if (!valid()) {
    return fail(ErrorCode::kInvalidArgument, "HORIZON_INVALID",
                "a horizon of " + std::to_string(numerator) + "/" + std::to_string(denominator) +
                    " s is none; give positive numbers");
  }
  return Rational::make(numerator, denominator);
}

}  // namespace weftline
