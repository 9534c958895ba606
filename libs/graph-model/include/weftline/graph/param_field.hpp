// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "weftline/graph/param_value.hpp"
#include "weftline/plan/param_records.hpp"

namespace weftline {

/// A parameter struct that WEFTLINE_PARAM_SCHEMA describes.
template <class P>
concept HasParamSchema = requires { weftline_param_schema(std::type_identity<P>{}); };

/// One name of an enumeration's value.
template <class E>
struct ParamEnumValue {
  std::string_view name{};
  E value{};
};

template <class E>
  requires std::is_enum_v<E>
[[nodiscard]] consteval ParamEnumValue<E> param_enum_value(std::string_view name, E value) {
  return {name, value};
}

/// The most values that one field can list.
inline constexpr std::size_t kMaximumParamChoices = 64;

/// Mistakes in a schema. A schema is made at compile time, so that a call of one of these is a
/// compile error that names it; none has a body.
namespace param_fault {
[[noreturn]] void a_name_is_1_to_128_of_letters_digits_underscore_and_dash();
[[noreturn]] void a_schema_id_is_1_to_128_printing_characters_without_spaces();
[[noreturn]] void a_schema_version_is_at_least_1();
[[noreturn]] void two_fields_have_one_name();
[[noreturn]] void one_member_is_declared_twice();
[[noreturn]] void a_member_belongs_to_another_struct();
[[noreturn]] void an_enumeration_needs_enum_values();
[[noreturn]] void a_range_or_length_is_empty();
[[noreturn]] void a_choice_is_listed_twice();
[[noreturn]] void more_choices_than_a_field_can_list();
[[noreturn]] void a_property_is_given_twice();
[[noreturn]] void a_rule_needs_words();
[[noreturn]] void lifecycle_mutable_takes_a_forward_stage();
}  // namespace param_fault

namespace params {

template <auto Member>
struct MemberOf;
template <class C, class M, M C::*Pointer>
struct MemberOf<Pointer> {
  using Class = C;
  using Value = M;
};

/// How a value of E is written in a schema: strings can't be held at compile time.
template <class E>
using LiteralOf = std::conditional_t<std::is_same_v<E, std::string>, std::string_view, E>;

consteval bool is_param_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

template <class Literal>
struct ChoiceLiteral {
  std::string_view name{};  ///< Empty but for enumerations.
  Literal value{};
};

/// What a ParamFieldBuilder has gathered.
template <class Value, class Literal>
struct FieldProperties {
  std::string_view name{};
  std::string_view description{};
  std::string_view unit{};
  bool has_range{false};
  Literal minimum{};
  Literal maximum{};
  bool has_length{false};
  std::uint64_t min_length{0};
  std::uint64_t max_length{std::numeric_limits<std::uint64_t>::max()};
  std::size_t choice_count{0};
  std::array<ChoiceLiteral<Literal>, kMaximumParamChoices> choices{};
  bool (*rule)(const Value&) noexcept {nullptr};
  std::string_view rule_text{};
  std::optional<ParamMutability> mutability{};
  std::optional<LifecycleStage> stage{};
  bool sensitive{false};
  bool required{false};
};

/// In place of FieldProperties where the field is a struct with a schema of its own.
struct NestedProperties {
  std::string_view name{};
  std::string_view description{};
  bool sensitive{false};
};

}  // namespace params

/// Describes one member of a parameter struct; made by `field<&P::member>("name")`, used inside
/// WEFTLINE_PARAM_SCHEMA. Each call returns a changed copy; a property given twice, or one that
/// contradicts another, does not compile. A range, a list of values or enumerators of an array or a
/// list hold for each element.
///
/// A member is a bool, an integer, float, double, std::chrono::nanoseconds, an enum, std::string,
/// a std::array or std::vector of these, or a struct that has a schema.
template <auto Member>
class ParamFieldBuilder {
 public:
  using Class = typename params::MemberOf<Member>::Class;
  using Value = std::remove_cv_t<typename params::MemberOf<Member>::Value>;
  using Element = typename params::ShapeOf<Value>::Element;
  using Literal = params::LiteralOf<Element>;
  static_assert(params::Leaf<Value>,
                "weftline::field: a parameter is a bool, an integer, float, double, "
                "std::chrono::nanoseconds, an enum, std::string, a std::array or std::vector of "
                "these, or a struct with WEFTLINE_PARAM_SCHEMA in its own namespace");

  consteval explicit ParamFieldBuilder(std::string_view name) { properties_.name = name; }

  [[nodiscard]] consteval ParamFieldBuilder description(std::string_view text) const {
    auto next = *this;
    next.properties_.description = text;
    return next;
  }
  /// For people, "us". Values are never converted.
  [[nodiscard]] consteval ParamFieldBuilder unit(std::string_view text) const {
    auto next = *this;
    next.properties_.unit = text;
    return next;
  }

  /// Both ends are admitted.
  [[nodiscard]] consteval ParamFieldBuilder range(Literal minimum, Literal maximum) const
    requires ParamNumber<Element>
  {
    if (properties_.has_range) param_fault::a_property_is_given_twice();
    if (!(minimum <= maximum)) param_fault::a_range_or_length_is_empty();
    auto next = *this;
    next.properties_.has_range = true;
    next.properties_.minimum = minimum;
    next.properties_.maximum = maximum;
    return next;
  }
  /// How many elements a std::vector, or bytes a std::string, may have; both ends are admitted.
  [[nodiscard]] consteval ParamFieldBuilder length(std::uint64_t minimum,
                                                   std::uint64_t maximum) const
    requires(params::ShapeOf<Value>::kShape == ParamShape::kList ||
             std::is_same_v<Value, std::string>)
  {
    if (properties_.has_length) param_fault::a_property_is_given_twice();
    if (minimum > maximum) param_fault::a_range_or_length_is_empty();
    auto next = *this;
    next.properties_.has_length = true;
    next.properties_.min_length = minimum;
    next.properties_.max_length = maximum;
    return next;
  }
  /// These values and no others.
  template <std::size_t N>
  [[nodiscard]] consteval ParamFieldBuilder allowed_values(const Literal (&values)[N]) const
    requires(ParamNumber<Element> || std::is_same_v<Element, std::string>)
  {
    auto next = *this;
    if (next.properties_.choice_count != 0) param_fault::a_property_is_given_twice();
    for (const Literal& value : values) next.add_choice({}, value);
    return next;
  }
  /// The names by which documents and plans know an enum's values. Every enum field needs them;
  /// a value without a name is refused.
  template <std::size_t N>
  [[nodiscard]] consteval ParamFieldBuilder enum_values(
      const ParamEnumValue<Element> (&values)[N]) const
    requires std::is_enum_v<Element>
  {
    auto next = *this;
    if (next.properties_.choice_count != 0) param_fault::a_property_is_given_twice();
    for (const auto& [name, value] : values) {
      if (!params::is_param_name(name)) {
        param_fault::a_name_is_1_to_128_of_letters_digits_underscore_and_dash();
      }
      next.add_choice(name, value);
    }
    return next;
  }
  /// A check of its own. `words` complete "the value must …". The contract hash knows a rule by its
  /// words: change them when the function changes.
  [[nodiscard]] consteval ParamFieldBuilder validator(bool (*check)(const Value&) noexcept,
                                                      std::string_view words) const {
    if (!properties_.rule_text.empty()) param_fault::a_property_is_given_twice();
    if (words.empty()) param_fault::a_rule_needs_words();
    auto next = *this;
    next.properties_.rule = check;
    next.properties_.rule_text = words;
    return next;
  }
  ParamFieldBuilder validator(std::nullptr_t, std::string_view) const = delete;

  /// What a field is that says nothing.
  [[nodiscard]] consteval ParamFieldBuilder compile_time() const {
    return with(ParamMutability::kCompileTime, {});
  }
  [[nodiscard]] consteval ParamFieldBuilder runtime_mutable() const
    requires(ParamElement<Value> && !std::is_same_v<Value, std::string>)
  {
    return with(ParamMutability::kRuntime, {});
  }
  /// From the given stage on the operator is restarted to take a new value.
  [[nodiscard]] consteval ParamFieldBuilder lifecycle_mutable(LifecycleStage stage) const
    requires(ParamElement<Value> && !std::is_same_v<Value, std::string>)
  {
    if (!is_lifecycle_forward_stage(stage)) param_fault::lifecycle_mutable_takes_a_forward_stage();
    return with(ParamMutability::kLifecycle, stage);
  }
  [[nodiscard]] consteval ParamFieldBuilder recompile_required() const {
    return with(ParamMutability::kRecompile, {});
  }

  /// The value is in no plan, JSON, diagnostic or message; no plan digest depends on it. Its type
  /// and limits are not secret.
  [[nodiscard]] consteval ParamFieldBuilder sensitive() const {
    auto next = *this;
    next.properties_.sensitive = true;
    return next;
  }
  /// The struct's default is no value to run with: a document must give the field, and an operator
  /// needs set_params().
  [[nodiscard]] consteval ParamFieldBuilder required() const {
    auto next = *this;
    next.properties_.required = true;
    return next;
  }

  [[nodiscard]] constexpr const auto& properties() const noexcept { return properties_; }

 private:
  consteval void add_choice(std::string_view name, const Literal& value) {
    auto& count = properties_.choice_count;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& other = properties_.choices[i];
      if (other.value == value || (!name.empty() && other.name == name)) {
        param_fault::a_choice_is_listed_twice();
      }
    }
    if (count == kMaximumParamChoices) param_fault::more_choices_than_a_field_can_list();
    properties_.choices[count++] = {name, value};
  }
  [[nodiscard]] consteval ParamFieldBuilder with(ParamMutability mutability,
                                                 std::optional<LifecycleStage> stage) const {
    if (properties_.mutability) param_fault::a_property_is_given_twice();
    auto next = *this;
    next.properties_.mutability = mutability;
    next.properties_.stage = stage;
    return next;
  }

  params::FieldProperties<Value, Literal> properties_{};
};

/// A member that is a struct with a schema: its fields keep their own properties and are known by
/// paths, "sensor.exposure".
template <auto Member>
  requires HasParamSchema<typename params::MemberOf<Member>::Value>
class ParamFieldBuilder<Member> {
 public:
  using Class = typename params::MemberOf<Member>::Class;
  using Value = typename params::MemberOf<Member>::Value;

  consteval explicit ParamFieldBuilder(std::string_view name) { properties_.name = name; }

  [[nodiscard]] consteval ParamFieldBuilder description(std::string_view text) const {
    auto next = *this;
    next.properties_.description = text;
    return next;
  }
  /// All fields inside are sensitive.
  [[nodiscard]] consteval ParamFieldBuilder sensitive() const {
    auto next = *this;
    next.properties_.sensitive = true;
    return next;
  }

  [[nodiscard]] constexpr const auto& properties() const noexcept { return properties_; }

 private:
  params::NestedProperties properties_{};
};

/// `field<&Blur::radius>("radius").range(1, 9)`; names are 1 to 128 of [A-Za-z0-9_-].
template <auto Member>
[[nodiscard]] consteval ParamFieldBuilder<Member> field(std::string_view name) {
  return ParamFieldBuilder<Member>(name);
}

}  // namespace weftline
