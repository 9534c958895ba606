// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weftline {

/// "int", "uint", "float", "bfloat", "complex" or "bool" for a DLPack type code that may cross
/// processes; "" for any other.
[[nodiscard]] std::string_view dtype_code_text(std::uint8_t code) noexcept;
[[nodiscard]] std::optional<std::uint8_t> dtype_code_from_text(std::string_view text) noexcept;

}  // namespace weftline
