// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <algorithm>

namespace weftline::catalog_text {
namespace {

constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestQuote = 64;

bool is_graphic(char c) noexcept { return c > ' ' && c <= '~'; }

bool is_name_character(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

std::string concat(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

std::string in_quotes(std::string_view text) {
  std::string shown(text.substr(0, kLongestQuote));
  std::ranges::replace_if(
      shown, [](char c) { return c != ' ' && !is_graphic(c); }, '?');
  return concat({"'", shown, text.size() > kLongestQuote ? "…'" : "'"});
}

std::string item_path(std::string_view path, std::size_t index) {
  return concat({path, "[", std::to_string(index), "]"});
}

bool is_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kLongestName && text.front() != '.' &&
         std::ranges::all_of(text, is_name_character);
}

bool is_word(std::string_view text, std::size_t limit) noexcept {
  return !text.empty() && text.size() <= limit && std::ranges::all_of(text, is_graphic);
}

}  // namespace weftline::catalog_text
