// SPDX-License-Identifier: Apache-2.0
#include "quantities.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace weftline {
namespace {

template <std::size_t N>
std::string scaled(std::uint64_t value, std::uint64_t step,
                   const std::array<std::string_view, N>& units) {
  std::size_t unit = 0;
  std::uint64_t divisor = 1;
  while (unit + 1 < N && value / divisor >= step) {
    divisor *= step;
    ++unit;
  }
  std::string out = std::to_string(value / divisor);
  const std::uint64_t tenth = value % divisor * 10 / divisor;
  if (tenth != 0) out.append(".").append(std::to_string(tenth));
  return out.append(" ").append(units[unit]);
}

}  // namespace

std::string show_bytes(std::uint64_t bytes) {
  static constexpr auto kUnits = std::to_array<std::string_view>({"B", "KiB", "MiB", "GiB", "TiB"});
  return bytes == 0 ? "unknown" : scaled(bytes, 1024, kUnits);
}

std::string show_duration(std::int64_t ns) {
  static constexpr auto kUnits = std::to_array<std::string_view>({"ns", "us", "ms", "s"});
  const auto size =
      ns < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string text(ns < 0 ? "-" : "");
  return text.append(scaled(size, 1000, kUnits));
}

}  // namespace weftline
