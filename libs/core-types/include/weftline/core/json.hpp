// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weftline/core/error.hpp"

namespace weftline {

/// A number that is no integer of 64 bits, as it was written: what it means depends on the type
/// that takes it. Only `JsonLimits::decimals` lets one in; plans and catalogs hold none.
struct JsonDecimal {
  std::string text{};
  friend bool operator==(const JsonDecimal&, const JsonDecimal&) = default;
};

/// A JSON value in the one form that plans and catalogs use: integers only, keys sorted. Ordinary
/// copyable tree; cold paths only.
class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue, std::less<>>;

  JsonValue() noexcept = default;  // null
  JsonValue(std::nullptr_t) noexcept {}
  JsonValue(bool value) : value_(value) {}
  JsonValue(std::int64_t value);  // a non-negative one becomes uint64
  JsonValue(std::uint64_t value) : value_(value) {}
  JsonValue(int value) : JsonValue(static_cast<std::int64_t>(value)) {}
  JsonValue(std::uint32_t value) : value_(std::uint64_t{value}) {}
  JsonValue(std::string value) : value_(std::move(value)) {}
  JsonValue(std::string_view value) : value_(std::string(value)) {}
  JsonValue(const char* value) : value_(std::string(value)) {}
  JsonValue(JsonDecimal value) : value_(std::move(value)) {}
  JsonValue(Array value) : value_(std::move(value)) {}
  JsonValue(Object value) : value_(std::move(value)) {}

  [[nodiscard]] bool is_null() const noexcept { return value_.index() == 0; }
  [[nodiscard]] const bool* as_bool() const noexcept { return std::get_if<bool>(&value_); }
  /// Non-negative integers.
  [[nodiscard]] const std::uint64_t* as_uint() const noexcept {
    return std::get_if<std::uint64_t>(&value_);
  }
  /// Negative integers only; a non-negative one is held as uint64.
  [[nodiscard]] const std::int64_t* as_negative() const noexcept {
    return std::get_if<std::int64_t>(&value_);
  }
  [[nodiscard]] const std::string* as_string() const noexcept {
    return std::get_if<std::string>(&value_);
  }
  [[nodiscard]] const JsonDecimal* as_decimal() const noexcept {
    return std::get_if<JsonDecimal>(&value_);
  }
  [[nodiscard]] const Array* as_array() const noexcept { return std::get_if<Array>(&value_); }
  [[nodiscard]] const Object* as_object() const noexcept { return std::get_if<Object>(&value_); }
  /// Member of an object, or null when this is no object or has no such key.
  [[nodiscard]] const JsonValue* find(std::string_view key) const noexcept;

  /// Canonical text: keys in byte order, integers in decimal, strings escaped as little as JSON
  /// allows, UTF-8 kept. `indent` 0 gives one line; else that many spaces a level and a final
  /// newline.
  [[nodiscard]] std::string dump(unsigned indent = 0) const;

  // Not defaulted here, where the type is incomplete: nvcc refuses that.
  friend bool operator==(const JsonValue& a, const JsonValue& b);

 private:
  std::variant<std::monostate, bool, std::uint64_t, std::int64_t, std::string, Array, Object,
               JsonDecimal>
      value_{};
};

/// Appends a string as canonical JSON, quotes included. `text` is UTF-8.
void append_json_string(std::string& out, std::string_view text);

struct JsonLimits {
  std::size_t max_bytes{16u << 20};
  unsigned max_depth{64};
  bool decimals{false};  ///< Keeps numbers that are no 64-bit integers as JsonDecimal.
};

/// Parses untrusted text. Refuses, with the byte offset in the message: syntax errors and trailing
/// text (JSON_SYNTAX), floats and integers outside 64 bits, or with `decimals` only numbers beyond
/// a double (JSON_NUMBER), a key twice in one object (JSON_DUPLICATE_KEY), invalid UTF-8
/// (JSON_ENCODING), text past the limits (JSON_LIMIT).
[[nodiscard]] expected<JsonValue, Error> parse_json(std::string_view text, JsonLimits limits = {});

}  // namespace weftline
