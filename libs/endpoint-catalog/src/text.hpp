// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace weftline::catalog_text {

[[nodiscard]] std::string concat(std::initializer_list<std::string_view> parts);

/// 'text', fit for a one-line message: cut after 64 bytes, bytes that don't print replaced by '?'.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// "path[index]"
[[nodiscard]] std::string item_path(std::string_view path, std::size_t index);

/// True for 1 to 128 characters A-Z a-z 0-9 . _ - with no dot in front: what can name a file.
[[nodiscard]] bool is_name(std::string_view text) noexcept;

/// True for 1 to `limit` printing ASCII characters without a space.
[[nodiscard]] bool is_word(std::string_view text, std::size_t limit) noexcept;

}  // namespace weftline::catalog_text
