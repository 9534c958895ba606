// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace motion_watch {

/// The parts, one after the other.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string out;
  (out.append(std::string_view(parts)), ...);
  return out;
}

/// ` name="value"` with one digit after the point.
std::string svg_attribute(std::string_view name, double value);

/// Text that is safe inside HTML elements and quoted attributes. Control characters become spaces.
std::string escape_html(std::string_view text);

std::string base64(std::string_view bytes);

/// The first `max_characters` characters of UTF-8 text; if any are left out, the last is "…".
std::string shortened(std::string_view text, std::size_t max_characters);

/// "812 ns", "3.40 µs", "12.1 ms", "2.50 s": three significant digits.
std::string format_duration(std::int64_t ns);

/// "640 B", "1.27 MiB": three significant digits.
std::string format_bytes(std::uint64_t bytes);

/// "1,327,104".
std::string format_count(std::uint64_t value);

/// Fixed point, `digits` after it.
std::string format_fixed(double value, int digits);

}  // namespace motion_watch
