// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "weftline/graph/param_field.hpp"

namespace weftline {

/// A stable id, and a version to raise when the meaning of a field changes.
struct ParamSchemaName {
  std::string_view id{};
  std::uint32_t version{1};
};

[[nodiscard]] consteval ParamSchemaName param_schema(std::string_view id, std::uint32_t version) {
  return {id, version};
}

/// What WEFTLINE_PARAM_SCHEMA makes at compile time.
template <class P, class... Fields>
struct StaticParamSchema {
  ParamSchemaName name{};
  std::tuple<Fields...> fields{};
};

/// Refuses, by a compile error that names a function of param_fault: an id or name that is not
/// admitted, a name or member twice, a member of another struct, an enum without enum_values().
template <class P, auto... Members>
[[nodiscard]] consteval StaticParamSchema<P, ParamFieldBuilder<Members>...> make_param_schema(
    ParamSchemaName name, ParamFieldBuilder<Members>... fields);

/// One leaf of a schema with the path that leads to it.
struct ParamFieldDescriptor {
  struct Choice {
    std::string name{};  ///< Empty but for enumerations.
    ParamScalar value{};
  };

  std::string path{};       ///< "exposure", or "sensor.exposure" in a nested struct.
  std::string schema_id{};  ///< Of the struct that has the field, which may be a nested one.
  std::uint32_t schema_version{0};
  ParamType type{};
  std::string description{};
  std::string unit{};
  std::optional<ParamScalar> minimum{};
  std::optional<ParamScalar> maximum{};
  std::uint64_t min_length{0};  ///< Elements of a list, bytes of a string.
  std::uint64_t max_length{std::numeric_limits<std::uint64_t>::max()};
  std::vector<Choice> choices{};
  std::string rule{};  ///< Of the validator: "the value must …".
  ParamMutability mutability{ParamMutability::kCompileTime};
  std::optional<LifecycleStage> stage{};
  bool sensitive{false};
  bool required{false};
  ParamValue default_value{};
  /// Identifies the field: id and version of the outermost schema, and the path.
  ParamSchemaHash hash{};
  [[nodiscard]] std::uint64_t id() const noexcept;  ///< The first 64 bits of `hash`.

  /// The pointers lead to an object of the struct that the outermost schema describes. `write`
  /// takes a value of this type, with as many elements as it has.
  ParamValue (*read)(const void* params){nullptr};
  void (*write)(void* params, const ParamValue& value){nullptr};
  /// The same for a scalar field, without allocating where it is no string; null for others.
  ParamScalar (*read_scalar)(const void* params){nullptr};
  void (*write_scalar)(void* params, const ParamScalar& scalar){nullptr};
  std::function<bool(const void* params)> obeys_rule{};  ///< Empty without a validator.
};

/// The schema of one parameter struct, nested ones included, as data. Immutable and independent of
/// anything else; made cold.
///
/// Three hashes, each SHA-256 over canonical JSON. Each covers the schema's id and version, and for
/// every leaf field its path and the id and version of the struct that has it. Beyond that, each
/// fact is in exactly one of them:
///   structural_hash  how documents are decoded: types, names and numbers of enumerators
///   contract_hash    what is enforced: ranges, lengths, allowed values, the words of validators,
///                    mutability and stage, sensitive, required, and defaults but those of
///                    sensitive fields
///   metadata_hash    what people read: descriptions and units
/// The order of fields, enumerators or allowed values changes none of them, nor does a value that
/// an operator was given.
class ParamSchema {
 public:
  template <HasParamSchema P>
  [[nodiscard]] static ParamSchema of();

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] std::uint32_t version() const noexcept { return version_; }
  /// By path.
  [[nodiscard]] std::span<const ParamFieldDescriptor> fields() const noexcept { return fields_; }
  /// Null when there is none.
  [[nodiscard]] const ParamFieldDescriptor* find(std::string_view path) const noexcept;

  [[nodiscard]] const ParamSchemaHash& structural_hash() const noexcept { return structural_hash_; }
  [[nodiscard]] const ParamSchemaHash& contract_hash() const noexcept { return contract_hash_; }
  [[nodiscard]] const ParamSchemaHash& metadata_hash() const noexcept { return metadata_hash_; }

 private:
  ParamSchema(ParamSchemaName name, std::vector<ParamFieldDescriptor> fields,
              std::vector<std::string> group_descriptions);

  std::string id_;
  std::uint32_t version_;
  std::vector<ParamFieldDescriptor> fields_;
  ParamSchemaHash structural_hash_{};
  ParamSchemaHash contract_hash_{};
  ParamSchemaHash metadata_hash_{};
};

namespace params {

template <auto A, auto B>
consteval bool same_member() {
  if constexpr (std::is_same_v<decltype(A), decltype(B)>) {
    return A == B;
  } else {
    return false;
  }
}

template <auto Member, auto... Members>
consteval bool appears_once() {
  return (std::size_t{same_member<Member, Members>()} + ... + 0) == 1;
}

consteval bool is_schema_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 &&
         std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

template <class Builder>
consteval void check_field(const Builder& field) {
  if (!is_param_name(field.properties().name)) {
    param_fault::a_name_is_1_to_128_of_letters_digits_underscore_and_dash();
  }
  if constexpr (Leaf<typename Builder::Value>) {
    if (std::is_enum_v<typename Builder::Element> && field.properties().choice_count == 0) {
      param_fault::an_enumeration_needs_enum_values();
    }
  }
}

/// The member that a chain of members leads to.
template <auto First, auto... Rest>
constexpr auto& member_at(auto& object) noexcept {
  if constexpr (sizeof...(Rest) == 0) {
    return object.*First;
  } else {
    return member_at<Rest...>(object.*First);
  }
}

/// Where the leaves of a schema are gathered.
struct Leaves {
  std::vector<ParamFieldDescriptor> fields{};
  std::vector<std::string> group_descriptions{};  ///< "path: text" of nested structs.
};

template <class Root, auto... Chain, class Value, class Literal>
ParamFieldDescriptor describe(const FieldProperties<Value, Literal>& properties,
                              const std::string& prefix, ParamSchemaName owner, bool sensitive) {
  using Element = typename ShapeOf<Value>::Element;
  const auto scalar = [](const Literal& literal) { return to_scalar<Element>(Element(literal)); };
  ParamFieldDescriptor field;
  field.path = prefix + std::string(properties.name);
  field.schema_id = owner.id;
  field.schema_version = owner.version;
  field.type = type_of<Value>();
  field.description = properties.description;
  field.unit = properties.unit;
  if (properties.has_range) {
    field.minimum = scalar(properties.minimum);
    field.maximum = scalar(properties.maximum);
  }
  field.min_length = properties.min_length;
  field.max_length = properties.max_length;
  for (std::size_t i = 0; i < properties.choice_count; ++i) {
    field.choices.push_back(
        {std::string(properties.choices[i].name), scalar(properties.choices[i].value)});
  }
  field.mutability = properties.mutability.value_or(ParamMutability::kCompileTime);
  field.stage = properties.stage;
  field.sensitive = sensitive || properties.sensitive;
  field.required = properties.required;
  field.read = [](const void* object) {
    return to_value<Value>(member_at<Chain...>(*static_cast<const Root*>(object)));
  };
  field.write = [](void* object, const ParamValue& value) {
    from_value<Value>(member_at<Chain...>(*static_cast<Root*>(object)), value);
  };
  if constexpr (ShapeOf<Value>::kShape == ParamShape::kScalar) {
    field.read_scalar = [](const void* object) {
      return to_scalar<Value>(member_at<Chain...>(*static_cast<const Root*>(object)));
    };
    field.write_scalar = [](void* object, const ParamScalar& value) {
      member_at<Chain...>(*static_cast<Root*>(object)) = from_scalar<Value>(value);
    };
  }
  if (!properties.rule_text.empty()) {
    field.rule = properties.rule_text;
    field.obeys_rule = [rule = properties.rule](const void* object) {
      return rule(member_at<Chain...>(*static_cast<const Root*>(object)));
    };
  }
  return field;
}

template <class Root, auto... Chain, class P, auto... Members>
void gather(Leaves& leaves, const StaticParamSchema<P, ParamFieldBuilder<Members>...>& schema,
            const std::string& prefix, bool sensitive) {
  const auto each = [&]<auto Member>(const ParamFieldBuilder<Member>& builder) {
    using Value = typename ParamFieldBuilder<Member>::Value;
    const auto& properties = builder.properties();
    if constexpr (HasParamSchema<Value>) {
      constexpr auto kNested = weftline_param_schema(std::type_identity<Value>{});
      const std::string path = prefix + std::string(properties.name);
      leaves.group_descriptions.push_back(path + ": " + std::string(properties.description));
      gather<Root, Chain..., Member>(leaves, kNested, path + ".",
                                     sensitive || properties.sensitive);
    } else {
      leaves.fields.push_back(
          describe<Root, Chain..., Member>(properties, prefix, schema.name, sensitive));
    }
  };
  std::apply([&](const auto&... fields) { (each(fields), ...); }, schema.fields);
}

}  // namespace params

template <class P, auto... Members>
consteval StaticParamSchema<P, ParamFieldBuilder<Members>...> make_param_schema(
    ParamSchemaName name, ParamFieldBuilder<Members>... fields) {
  if (!params::is_schema_id(name.id)) {
    param_fault::a_schema_id_is_1_to_128_printing_characters_without_spaces();
  }
  if (name.version == 0) param_fault::a_schema_version_is_at_least_1();
  (params::check_field(fields), ...);
  if (!(std::is_base_of_v<typename ParamFieldBuilder<Members>::Class, P> && ...)) {
    param_fault::a_member_belongs_to_another_struct();
  }
  if (!(params::appears_once<Members, Members...>() && ...)) {
    param_fault::one_member_is_declared_twice();
  }
  const std::array<std::string_view, sizeof...(Members)> names{fields.properties().name...};
  for (auto name_at = names.begin(); name_at != names.end(); ++name_at) {
    if (std::find(name_at + 1, names.end(), *name_at) != names.end()) {
      param_fault::two_fields_have_one_name();
    }
  }
  return {name, {fields...}};
}

template <HasParamSchema P>
ParamSchema ParamSchema::of() {
  constexpr auto kSchema = weftline_param_schema(std::type_identity<P>{});
  params::Leaves leaves;
  params::gather<P>(leaves, kSchema, {}, false);
  const P defaults{};
  for (ParamFieldDescriptor& field : leaves.fields) field.default_value = field.read(&defaults);
  return ParamSchema(kSchema.name, std::move(leaves.fields), std::move(leaves.group_descriptions));
}

}  // namespace weftline

/// Describes a parameter struct, an aggregate with a default for each member. It stands beside the
/// struct, in the same namespace:
///   struct Blur { std::uint32_t radius{3}; };
///   WEFTLINE_PARAM_SCHEMA(Blur, weftline::param_schema("com.example.Blur", 1),
///                         weftline::field<&Blur::radius>("radius").range(1, 9).unit("px"));
/// Members that no field names are not parameters: they keep their defaults.
#define WEFTLINE_PARAM_SCHEMA(Type, ...)                                              \
  [[maybe_unused]] consteval auto weftline_param_schema(::std::type_identity<Type>) { \
    return ::weftline::make_param_schema<Type>(__VA_ARGS__);                          \
  }                                                                                   \
  static_assert(weftline_param_schema(::std::type_identity<Type>{}).name.version != 0)
