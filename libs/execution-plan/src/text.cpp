// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>
#include <cstdint>

namespace weftline {
namespace {

constexpr bool is_continuation(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Bytes of the valid UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  if (lead >= 0xc2 && lead <= 0xdf) length = 2;
  if (lead >= 0xe0 && lead <= 0xef) length = 3;
  if (lead >= 0xf0 && lead <= 0xf4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  if (!std::ranges::all_of(text.substr(1, length - 1), is_continuation)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool beyond = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

/// C0, DEL and C1.
bool is_control(std::string_view sequence) noexcept {
  const auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead < 0x20 || lead == 0x7f;
  return sequence.size() == 2 && lead == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.append("\\x").push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 0xf]);
  }
}

std::string escape(std::string_view text, bool escape_controls) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || (escape_controls && is_control(sequence))) {
      append_escaped(out, sequence);
    } else {
      out.append(sequence);
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

/// Byte offset of code point number `index`.
std::size_t offset_of(std::string_view text, std::size_t index) noexcept {
  std::size_t offset = 0;
  for (; offset < text.size(); ++offset) {
    if (is_continuation(text[offset])) continue;
    if (index-- == 0) break;
  }
  return offset;
}

}  // namespace

std::string valid_utf8(std::string_view text) { return escape(text, false); }

std::string one_line(std::string_view text) { return escape(text, true); }

std::size_t count_code_points(std::string_view text) noexcept {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_continuation));
}

std::string shorten(const std::string& text, std::size_t limit) {
  const std::size_t count = count_code_points(text);
  if (count <= limit) return text;
  const std::size_t tail = (limit - 1) / 2;
  const std::size_t head = limit - 1 - tail;
  return text.substr(0, offset_of(text, head)) + "…" + text.substr(offset_of(text, count - tail));
}

}  // namespace weftline
