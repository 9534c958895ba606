// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weftline {

enum class ParamKind : std::uint8_t {
  kBool = 0,
  kInteger,   ///< Signed, 8 to 64 bits.
  kUnsigned,  ///< 8 to 64 bits.
  kFloat,     ///< 32 or 64 bits, finite.
  kDuration,  ///< std::chrono::nanoseconds.
  kEnum,      ///< By the names that its field lists.
  kString,    ///< UTF-8.
};

enum class ParamShape : std::uint8_t {
  kScalar = 0,
  kArray,  ///< std::array, a fixed number of elements.
  kList,   ///< std::vector.
};

struct ParamType {
  ParamKind kind{ParamKind::kBool};
  std::uint8_t bits{0};   ///< Of an element; 0 for kBool and kString.
  bool is_signed{false};  ///< For kEnum: of its underlying type.
  ParamShape shape{ParamShape::kScalar};
  std::uint64_t count{1};  ///< kArray: its elements.
  friend bool operator==(const ParamType&, const ParamType&) = default;
};

/// "bool", "int32", "float64", "duration_ns", "enum uint8", "string"; arrays add "[3]", lists "[]".
[[nodiscard]] std::string param_type_name(const ParamType& type);

/// One element without its C++ type: kInteger, kDuration and signed enums are int64, kUnsigned and
/// unsigned enums uint64, kFloat double.
using ParamScalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;
/// A field's elements; one for a scalar.
using ParamValue = std::vector<ParamScalar>;

/// Integers of 8 to 64 bits; characters are none.
template <class T>
concept ParamInteger = std::is_integral_v<T> && !std::same_as<T, bool> && !std::same_as<T, char> &&
                       !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                       !std::same_as<T, char16_t> && !std::same_as<T, char32_t> && sizeof(T) <= 8;

template <class T>
concept ParamNumber = ParamInteger<T> || std::same_as<T, float> || std::same_as<T, double> ||
                      std::same_as<T, std::chrono::nanoseconds>;

template <class T>
concept ParamElement =
    std::same_as<T, bool> || ParamNumber<T> || std::is_enum_v<T> || std::same_as<T, std::string>;

namespace params {

template <class T>
struct ShapeOf {
  using Element = T;
  static constexpr ParamShape kShape = ParamShape::kScalar;
  static constexpr std::uint64_t kCount = 1;
};
template <class T, std::size_t N>
struct ShapeOf<std::array<T, N>> {
  using Element = T;
  static constexpr ParamShape kShape = ParamShape::kArray;
  static constexpr std::uint64_t kCount = N;
};
template <class T>
struct ShapeOf<std::vector<T>> {
  using Element = T;
  static constexpr ParamShape kShape = ParamShape::kList;
  static constexpr std::uint64_t kCount = 0;
};

template <class T>
concept Leaf = ParamElement<typename ShapeOf<T>::Element>;

template <Leaf T>
constexpr ParamType type_of() noexcept {
  using E = typename ShapeOf<T>::Element;
  ParamType type{.shape = ShapeOf<T>::kShape, .count = ShapeOf<T>::kCount};
  if constexpr (std::is_same_v<E, bool>) {
    type.kind = ParamKind::kBool;
  } else if constexpr (std::is_same_v<E, std::string>) {
    type.kind = ParamKind::kString;
  } else if constexpr (std::is_enum_v<E>) {
    type.kind = ParamKind::kEnum;
    type.bits = 8 * sizeof(E);
    type.is_signed = std::is_signed_v<std::underlying_type_t<E>>;
  } else if constexpr (std::is_same_v<E, std::chrono::nanoseconds>) {
    type.kind = ParamKind::kDuration;
    type.bits = 64;
    type.is_signed = true;
  } else {
    type.is_signed = std::is_signed_v<E>;
    type.kind = std::is_floating_point_v<E> ? ParamKind::kFloat
                : type.is_signed            ? ParamKind::kInteger
                                            : ParamKind::kUnsigned;
    type.bits = 8 * sizeof(E);
  }
  return type;
}

template <ParamElement E>
ParamScalar to_scalar(const E& element) {
  if constexpr (std::is_same_v<E, bool> || std::is_same_v<E, std::string>) {
    return element;
  } else if constexpr (std::is_same_v<E, std::chrono::nanoseconds>) {
    return std::int64_t{element.count()};
  } else if constexpr (std::is_enum_v<E>) {
    const auto number = static_cast<std::underlying_type_t<E>>(element);
    if constexpr (std::is_signed_v<std::underlying_type_t<E>>) {
      return static_cast<std::int64_t>(number);
    } else {
      return static_cast<std::uint64_t>(number);
    }
  } else if constexpr (std::is_floating_point_v<E>) {
    return static_cast<double>(element);
  } else if constexpr (std::is_signed_v<E>) {
    return static_cast<std::int64_t>(element);
  } else {
    return static_cast<std::uint64_t>(element);
  }
}

/// `scalar` holds the alternative of E and a number that E can hold.
template <ParamElement E>
E from_scalar(const ParamScalar& scalar) {
  if constexpr (std::is_same_v<E, bool> || std::is_same_v<E, std::string>) {
    return std::get<E>(scalar);
  } else if constexpr (std::is_same_v<E, std::chrono::nanoseconds>) {
    return std::chrono::nanoseconds(std::get<std::int64_t>(scalar));
  } else if constexpr (std::is_floating_point_v<E>) {
    return static_cast<E>(std::get<double>(scalar));
  } else if constexpr (type_of<E>().is_signed) {
    return static_cast<E>(std::get<std::int64_t>(scalar));
  } else {
    return static_cast<E>(std::get<std::uint64_t>(scalar));
  }
}

template <Leaf T>
ParamValue to_value(const T& field) {
  using E = typename ShapeOf<T>::Element;
  if constexpr (ShapeOf<T>::kShape == ParamShape::kScalar) {
    return {to_scalar<E>(field)};
  } else {
    ParamValue value;
    value.reserve(field.size());
    for (const auto& element : field) value.push_back(to_scalar<E>(element));
    return value;
  }
}

/// `value` has as many elements as the field takes.
template <Leaf T>
void from_value(T& field, const ParamValue& value) {
  using E = typename ShapeOf<T>::Element;
  if constexpr (ShapeOf<T>::kShape == ParamShape::kScalar) {
    field = from_scalar<E>(value.front());
  } else if constexpr (ShapeOf<T>::kShape == ParamShape::kArray) {
    for (std::size_t i = 0; i < field.size(); ++i) field[i] = from_scalar<E>(value[i]);
  } else {
    field.clear();
    field.reserve(value.size());
    for (const ParamScalar& scalar : value) field.push_back(from_scalar<E>(scalar));
  }
}

}  // namespace params
}  // namespace weftline
