// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "weftline/core/json.hpp"

namespace weftline {

/// The parameters of an operator that has none.
struct NoParams {};

/// Names a parameter struct: a stable id and a version to raise when the meaning of a field
/// changes.
struct ParamSchemaName {
  std::string_view id{};
  std::uint32_t version{1};
};

[[nodiscard]] constexpr ParamSchemaName param_schema(std::string_view id,
                                                     std::uint32_t version) noexcept {
  return {id, version};
}

namespace params {

template <class T>
JsonValue value_to_json(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return value_to_json(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    // Plans hold no floats: the exact value in hexadecimal notation is the same on every machine.
    char text[64];
    const double magnitude = std::fabs(static_cast<double>(value));
    const auto end = std::to_chars(text, text + sizeof text, magnitude, std::chars_format::hex).ptr;
    return (std::signbit(value) ? "-" : "") + std::string(std::isfinite(value) ? "0x" : "") +
           std::string(text, end);
  } else {
    return std::string(value);
  }
}

template <auto Member>
struct MemberOf;
template <class C, class M, M C::*Pointer>
struct MemberOf<Pointer> {
  using Class = C;
  static const M& get(const C& object) noexcept { return object.*Pointer; }
};

}  // namespace params

/// One field of a parameter schema.
template <auto Member>
struct ParamField {
  std::string_view name{};
};

template <auto Member>
[[nodiscard]] constexpr ParamField<Member> field(std::string_view name) noexcept {
  return {name};
}

template <class P>
struct ParamSchemaOf;

/// Values as canonical JSON, with the schema's id and version; null for NoParams.
template <class P>
[[nodiscard]] JsonValue params_to_json(const P& parameters) {
  if constexpr (std::is_same_v<P, NoParams>) {
    static_cast<void>(parameters);
    return {};
  } else {
    JsonValue::Object values;
    ParamSchemaOf<P>::for_each_field([&]<auto Member>(ParamField<Member> entry) {
      values.emplace(entry.name, params::value_to_json(params::MemberOf<Member>::get(parameters)));
    });
    JsonValue::Object object;
    object.emplace("schema", std::string(ParamSchemaOf<P>::kName.id));
    object.emplace("version", ParamSchemaOf<P>::kName.version);
    object.emplace("values", std::move(values));
    return object;
  }
}

}  // namespace weftline

/// Beside a plain aggregate, at namespace scope, outside any namespace:
/// `WEFTLINE_PARAM_SCHEMA(app::Threshold, weftline::param_schema("com.example.Threshold", 1),
///                        weftline::field<&app::Threshold::level>("level"))`.
#define WEFTLINE_PARAM_SCHEMA(Type, name, ...)                         \
  template <>                                                          \
  struct weftline::ParamSchemaOf<Type> {                               \
    static constexpr ::weftline::ParamSchemaName kName = name;         \
    template <class Visit>                                             \
    static void for_each_field(Visit&& visit) {                        \
      [&visit](auto... fields) { (visit(fields), ...); }(__VA_ARGS__); \
    }                                                                  \
  }
