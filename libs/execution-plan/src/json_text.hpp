// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "weftline/core/json.hpp"

namespace weftline {

/// A JSON value as its canonical text on one line, made without a tree: a plan has tens of
/// thousands of records, and a tree of each would cost more than all passes of the compiler.
class JsonText {
 public:
  JsonText() : text_("null") {}
  JsonText(std::nullptr_t) : JsonText() {}
  JsonText(bool value) : text_(value ? "true" : "false") {}
  template <class Number>
    requires(std::is_integral_v<Number> && !std::is_same_v<Number, bool>)
  JsonText(Number value) : text_(std::to_string(value)) {}
  JsonText(std::string_view value) { append_json_string(text_, value); }
  JsonText(const std::string& value) : JsonText(std::string_view(value)) {}
  JsonText(const char* value) : JsonText(std::string_view(value)) {}
  JsonText(const JsonValue& value) : text_(value.dump()) {}

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 protected:
  std::string text_{};
};

/// Members in the byte order of their keys; another order aborts, it is a mistake of the program.
class JsonObjectText : public JsonText {
 public:
  struct Member {
    std::string_view key{};
    JsonText value{};
  };
  JsonObjectText(std::initializer_list<Member> members);
};

class JsonArrayText : public JsonText {
 public:
  JsonArrayText() { text_ = "[]"; }
  void push_back(const JsonText& item);
};

}  // namespace weftline
