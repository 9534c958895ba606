// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "weftline/core/error.hpp"
#include "weftline/core/json.hpp"

namespace weftline {

/// Takes the members of one JSON object and remembers the first thing that is wrong; after that
/// every call returns an empty value. `finish()` says what it was, or refuses a key that nobody
/// took.
class ObjectReader {
 public:
  ObjectReader(const JsonValue& value, std::string path);

  [[nodiscard]] std::string text(std::string_view key);
  template <std::unsigned_integral T>
  [[nodiscard]] T number(std::string_view key) {
    return static_cast<T>(unsigned_member(key, std::numeric_limits<T>::max()));
  }
  /// Null stands for an absent number.
  template <std::unsigned_integral T>
  [[nodiscard]] std::optional<T> optional_number(std::string_view key) {
    const JsonValue* value = member(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return number<T>(key);
  }
  /// One of `choices`, spelled as `name_of` spells it.
  template <class E>
  [[nodiscard]] E choice(std::string_view key, std::span<const E> choices,
                         std::string_view (*name_of)(E) noexcept) {
    const std::string spelled = text(key);
    for (const E candidate : choices) {
      if (name_of(candidate) == spelled) return candidate;
    }
    refuse_choice(key, spelled);
    return choices.front();
  }
  /// The member itself; null (the pointer) when it is missing or something was wrong before.
  [[nodiscard]] const JsonValue* member(std::string_view key);
  [[nodiscard]] const JsonValue::Array* array(std::string_view key);

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  void refuse_choice(std::string_view key, std::string_view spelled);
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] expected<void, Error> finish();

 private:
  [[nodiscard]] std::uint64_t unsigned_member(std::string_view key, std::uint64_t maximum);
  void refuse_kind(std::string_view key, std::string_view wanted);
  void refuse(std::string_view token, std::string message);

  const JsonValue::Object* object_;
  std::string path_;
  std::set<std::string, std::less<>> taken_{};
  std::optional<Error> error_{};
};

}  // namespace weftline
