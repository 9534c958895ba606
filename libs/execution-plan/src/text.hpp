// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weftline {

/// The text with every byte that is not part of valid UTF-8 written as "\xNN".
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// The same, with control characters written as "\xNN" too: prints on one line, moves no cursor.
[[nodiscard]] std::string one_line(std::string_view text);

/// Code points of valid UTF-8.
[[nodiscard]] std::size_t count_code_points(std::string_view text) noexcept;

/// At most `limit` code points of valid UTF-8; a longer text keeps its start and its end around
/// "…". `limit` is at least 3.
[[nodiscard]] std::string shorten(const std::string& text, std::size_t limit);

}  // namespace weftline
