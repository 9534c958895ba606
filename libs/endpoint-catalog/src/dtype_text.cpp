// SPDX-License-Identifier: Apache-2.0
#include "dtype_text.hpp"

#include <dlpack/dlpack.h>

#include <array>
#include <utility>

namespace weftline {
namespace {

// 6 is kDLBool, which older DLPack headers lack. Opaque handles mean nothing in another process.
constexpr std::array<std::pair<std::uint8_t, std::string_view>, 6> kCodes{{{kDLInt, "int"},
                                                                           {kDLUInt, "uint"},
                                                                           {kDLFloat, "float"},
                                                                           {kDLBfloat, "bfloat"},
                                                                           {kDLComplex, "complex"},
                                                                           {6, "bool"}}};

}  // namespace

std::string_view dtype_code_text(std::uint8_t code) noexcept {
  for (const auto& [known, text] : kCodes) {
    if (known == code) return text;
  }
  return {};
}

std::optional<std::uint8_t> dtype_code_from_text(std::string_view text) noexcept {
  for (const auto& [code, known] : kCodes) {
    if (known == text) return code;
  }
  return std::nullopt;
}

}  // namespace weftline
