// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "weftline/graph/param_schema.hpp"

namespace weftline {

/// Names one field of P that something is derived from: setup() hands it over, the compiler reads
/// the value that the plan is compiled with. A path through a nested struct is a field of its own,
/// even where the same nested struct is used twice. Owns what it holds.
template <class P, class V>
class ParamRef {
 public:
  using Params = P;
  using Value = V;

  ParamRef(ParamFieldDescriptor descriptor, const V& (*getter)(const P&) noexcept)
      : field_(std::move(descriptor)), get_(getter) {}

  [[nodiscard]] const ParamFieldDescriptor& field() const noexcept { return field_; }
  [[nodiscard]] const V& get(const P& values) const noexcept { return get_(values); }

  /// Whether the value may enter a plan: it holds as long as the plan does, and is no secret.
  [[nodiscard]] bool may_enter_plan() const noexcept {
    const bool frozen = field_.mutability == ParamMutability::kCompileTime ||
                        field_.mutability == ParamMutability::kRecompile;
    return frozen && !field_.sensitive;
  }

  friend bool operator==(const ParamRef& a, const ParamRef& b) noexcept {
    return a.field_.hash == b.field_.hash;
  }

 private:
  ParamFieldDescriptor field_;
  const V& (*get_)(const P&) noexcept;
};

namespace params {

/// Whether the schema of P has a leaf that the chain of members leads to.
template <class P, auto First, auto... Rest>
consteval bool leads_to_leaf() {
  if constexpr (!HasParamSchema<P>) {
    return false;
  } else {
    using Value = typename MemberOf<First>::Value;
    constexpr bool kDeclared =
        []<auto... Members>(const StaticParamSchema<P, ParamFieldBuilder<Members>...>&) {
          return (same_member<First, Members>() || ...);
        }(weftline_param_schema(std::type_identity<P>{}));
    if constexpr (sizeof...(Rest) == 0) {
      return kDeclared && !HasParamSchema<Value>;
    } else {
      return kDeclared && leads_to_leaf<Value, Rest...>();
    }
  }
}

/// The names along a chain of members, "sensor.exposure".
template <class P, auto First, auto... Rest>
std::string path_of() {
  constexpr auto kSchema = weftline_param_schema(std::type_identity<P>{});
  std::string path;
  std::apply(
      [&]<auto... Members>(const ParamFieldBuilder<Members>&... fields) {
        (void)((same_member<First, Members>() && (path = fields.properties().name, true)) || ...);
      },
      kSchema.fields);
  if constexpr (sizeof...(Rest) > 0) {
    path.append(".").append(path_of<typename MemberOf<First>::Value, Rest...>());
  }
  return path;
}

}  // namespace params

/// `param_ref<&Blur::radius>()`, or through a nested struct
/// `param_ref<&Camera::sensor, &Sensor::exposure>()`. Only for fields that the schema declares.
template <auto First, auto... Rest>
[[nodiscard]] auto param_ref() {
  using P = typename params::MemberOf<First>::Class;
  static_assert(
      params::leads_to_leaf<P, First, Rest...>(),
      "weftline::param_ref: no field of the struct's WEFTLINE_PARAM_SCHEMA has this path");
  using V = std::remove_cvref_t<decltype(params::member_at<First, Rest...>(std::declval<P&>()))>;
  const auto schema = ParamSchema::of<P>();
  return ParamRef<P, V>(*schema.find(params::path_of<P, First, Rest...>()),
                        [](const P& values) noexcept -> const V& {
                          return params::member_at<First, Rest...>(values);
                        });
}

}  // namespace weftline
