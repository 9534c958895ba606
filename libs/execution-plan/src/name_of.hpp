// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace weftline {

/// `names` in the order of the enumerators; "unknown" for a value outside the enum.
template <class Enum, std::size_t N>
[[nodiscard]] constexpr std::string_view name_of(
    Enum value, const std::array<std::string_view, N>& names) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "unknown";
}

}  // namespace weftline
