// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "weftline/core/error.hpp"

namespace weftline {

/// An exact non-negative fraction in lowest terms. Arithmetic is checked on 128-bit intermediates
/// and refuses with kArithmeticOverflow instead of rounding.
class Rational {
 public:
  constexpr Rational() noexcept = default;
  /// kInvalidArgument when `denominator` is 0.
  [[nodiscard]] static expected<Rational, Error> make(std::uint64_t numerator,
                                                      std::uint64_t denominator);

  [[nodiscard]] constexpr std::uint64_t numerator() const noexcept { return numerator_; }
  [[nodiscard]] constexpr std::uint64_t denominator() const noexcept { return denominator_; }

  [[nodiscard]] expected<Rational, Error> multiply(Rational other) const;
  [[nodiscard]] expected<Rational, Error> divide(Rational other) const;
  [[nodiscard]] expected<Rational, Error> add(Rational other) const;
  [[nodiscard]] std::uint64_t ceil() const noexcept;
  /// "3/2", or "60" for whole numbers.
  [[nodiscard]] std::string to_string() const;

  friend std::strong_ordering operator<=>(Rational a, Rational b) noexcept;
  friend constexpr bool operator==(Rational a, Rational b) noexcept = default;

 private:
  constexpr Rational(std::uint64_t numerator, std::uint64_t denominator) noexcept
      : numerator_(numerator), denominator_(denominator) {}
  std::uint64_t numerator_{0};
  std::uint64_t denominator_{1};
};

/// Samples per second, exact. A rate of 0 is not a rate: the factories leave it, `valid()` tells.
struct Rate {
  std::uint64_t samples{0};
  std::uint64_t seconds{1};

  [[nodiscard]] static constexpr Rate hz(std::uint64_t samples_per_second) noexcept {
    return {samples_per_second, 1};
  }
  [[nodiscard]] static constexpr Rate per(std::uint64_t samples, std::uint64_t seconds) noexcept {
    return {samples, seconds};
  }
  [[nodiscard]] constexpr bool valid() const noexcept { return samples > 0 && seconds > 0; }
  [[nodiscard]] expected<Rational, Error> as_rational() const;
  friend constexpr bool operator==(Rate, Rate) noexcept = default;
};

/// A dimensionless factor, e.g. {1, 4} for every fourth sample. Default: 1.
struct RateRatio {
  std::uint64_t numerator{1};
  std::uint64_t denominator{1};
  friend constexpr bool operator==(RateRatio, RateRatio) noexcept = default;
};

}  // namespace weftline
