// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weftline {

/// A unit of 1,000 or 1,024 steps, one decimal rounded down: "33.3 ms", "1.2 MiB".
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

}  // namespace weftline
