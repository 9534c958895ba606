// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
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

  [[nodiscard]] static constexpr Rational one() noexcept { return {1, 1}; }

  [[nodiscard]] constexpr std::uint64_t numerator() const noexcept { return numerator_; }
  [[nodiscard]] constexpr std::uint64_t denominator() const noexcept { return denominator_; }

  [[nodiscard]] expected<Rational, Error> multiply(Rational other) const;
  [[nodiscard]] expected<Rational, Error> divide(Rational other) const;
  [[nodiscard]] expected<Rational, Error> add(Rational other) const;
  [[nodiscard]] std::uint64_t ceil() const noexcept;
  /// The least whole number that is not below this times `other`. Needs no 64-bit terms on the way:
  /// refused (kArithmeticOverflow) only when the number itself is beyond 64 bits.
  [[nodiscard]] expected<std::uint64_t, Error> ceil_of_product(Rational other) const;
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
/// Whole numbers only, since 59.94 has no exact binary fraction; write Rate::per(60'000, 1'001). A
/// negative number becomes 0.
struct Rate {
  std::uint64_t samples{0};
  std::uint64_t seconds{1};

  [[nodiscard]] static constexpr Rate hz(std::integral auto samples_per_second) noexcept {
    return per(samples_per_second, 1);
  }
  [[nodiscard]] static constexpr Rate per(std::integral auto samples,
                                          std::integral auto seconds) noexcept {
    return {samples > 0 ? static_cast<std::uint64_t>(samples) : 0,
            seconds > 0 ? static_cast<std::uint64_t>(seconds) : 0};
  }
  [[nodiscard]] constexpr bool valid() const noexcept { return samples > 0 && seconds > 0; }
  [[nodiscard]] expected<Rational, Error> as_rational() const;
  friend constexpr bool operator==(Rate, Rate) noexcept = default;
};

/// A dimensionless factor, e.g. {1, 4} for every fourth sample. Default: 1.
struct RateRatio {
  std::uint64_t numerator{1};
  std::uint64_t denominator{1};

  [[nodiscard]] constexpr bool valid() const noexcept { return numerator > 0 && denominator > 0; }
  [[nodiscard]] expected<Rational, Error> as_rational() const;
  friend constexpr bool operator==(RateRatio, RateRatio) noexcept = default;
};

/// How long samples may pile up before they are taken, in seconds, exact: a fifteenth of a second
/// is no whole number of nanoseconds. 0 is no horizon; a negative number becomes 0.
struct Horizon {
  std::uint64_t numerator{0};
  std::uint64_t denominator{1};

  [[nodiscard]] static constexpr Horizon seconds(std::integral auto numerator,
                                                 std::integral auto denominator) noexcept {
    return {numerator > 0 ? static_cast<std::uint64_t>(numerator) : 0,
            denominator > 0 ? static_cast<std::uint64_t>(denominator) : 0};
  }
  [[nodiscard]] static constexpr Horizon milliseconds(std::integral auto count) noexcept {
    return seconds(count, 1'000);
  }
  [[nodiscard]] constexpr bool valid() const noexcept { return numerator > 0 && denominator > 0; }
  [[nodiscard]] expected<Rational, Error> as_rational() const;
  friend constexpr bool operator==(Horizon, Horizon) noexcept = default;
};

}  // namespace weftline
