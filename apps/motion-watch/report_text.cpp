// SPDX-License-Identifier: Apache-2.0
#include "report_text.hpp"

#include <cstdio>
#include <iterator>

namespace motion_watch {
namespace {

std::string three_digits(double value, const char* unit) {
  return format_fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0) + " " + unit;
}

}  // namespace

std::string svg_attribute(std::string_view name, double value) {
  return concat(" ", name, "=\"", format_fixed(value, 1), "\"");
}

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
    }
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u;
    };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    out += kDigits[group >> 18];
    out += kDigits[group >> 12 & 63];
    out += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t max_characters) {
  std::size_t characters = 0;
  std::size_t cut = 0;  // where the character begins that the dots replace
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (!starts_character) continue;
    ++characters;
    if (characters == max_characters) cut = i;
    if (characters > max_characters) return std::string(text.substr(0, cut)) + "…";
  }
  return std::string(text);
}

std::string format_duration(std::int64_t ns) {
  const auto value = static_cast<double>(ns);
  if (ns < 1'000) return std::to_string(ns) + " ns";
  if (ns < 1'000'000) return three_digits(value / 1e3, "µs");
  if (ns < 1'000'000'000) return three_digits(value / 1e6, "ms");
  return three_digits(value / 1e9, "s");
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return three_digits(value, kUnits[unit]);
}

std::string format_count(std::uint64_t value) {
  std::string out = std::to_string(value);
  for (std::size_t i = out.size(); i > 3; i -= 3) out.insert(i - 3, 1, ',');
  return out;
}

std::string format_fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace motion_watch
