// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_schema.hpp"

#include <algorithm>
#include <utility>

#include "param_text.hpp"
#include "weftline/core/json.hpp"

namespace weftline {
namespace {

using Object = JsonValue::Object;
using Array = JsonValue::Array;

ParamSchemaHash hash_of(const JsonValue& facts) { return sha256(facts.dump()); }

Object name_of(std::string_view marker, std::string_view id, std::uint32_t version) {
  return {{"id", id}, {"marker", marker}, {"version", version}};
}

JsonValue optional(const ParamFieldDescriptor& field, const std::optional<ParamScalar>& scalar) {
  return scalar ? params::scalar_json(field, *scalar) : JsonValue();
}

/// Sorted by their text, so that the order in which they were listed leaves no trace.
Array sorted(Array items) {
  std::ranges::sort(items, std::less<>{}, [](const JsonValue& item) { return item.dump(); });
  return items;
}

Object structure(const ParamFieldDescriptor& field) {
  Array enumerators;
  if (field.type.kind == ParamKind::kEnum) {
    for (const auto& choice : field.choices) {
      const auto* number = std::get_if<std::int64_t>(&choice.value);
      enumerators.push_back(
          Object{{"name", choice.name},
                 {"value", number ? JsonValue(*number) : std::get<std::uint64_t>(choice.value)}});
    }
  }
  return {{"enumerators", sorted(std::move(enumerators))}, {"type", param_type_name(field.type)}};
}

Object contract(const ParamFieldDescriptor& field) {
  Array allowed;
  if (field.type.kind != ParamKind::kEnum) {
    for (const auto& choice : field.choices) {
      allowed.push_back(params::scalar_json(field, choice.value));
    }
  }
  Array defaults;
  if (!field.sensitive) {
    for (const ParamScalar& scalar : field.default_value) {
      defaults.push_back(params::scalar_json(field, scalar));
    }
  }
  return {{"allowed", sorted(std::move(allowed))},
          {"default", std::move(defaults)},
          {"max_length", field.max_length},
          {"maximum", optional(field, field.maximum)},
          {"min_length", field.min_length},
          {"minimum", optional(field, field.minimum)},
          {"mutability", param_mutability_name(field.mutability)},
          {"required", field.required},
          {"rule", field.rule},
          {"sensitive", field.sensitive},
          {"stage", field.stage ? JsonValue(lifecycle_stage_name(*field.stage)) : JsonValue()}};
}

Object metadata(const ParamFieldDescriptor& field) {
  return {{"description", field.description}, {"unit", field.unit}};
}

/// Hashes the schema's name and, by path, what `facts` says about each field.
template <class Facts>
ParamSchemaHash hash_fields(Object object, std::span<const ParamFieldDescriptor> fields,
                            Facts facts) {
  Object by_path;
  for (const ParamFieldDescriptor& field : fields) {
    Object entry = facts(field);
    entry.emplace("owner_id", field.schema_id);
    entry.emplace("owner_version", field.schema_version);
    by_path.emplace(field.path, std::move(entry));
  }
  object.emplace("fields", std::move(by_path));
  return hash_of(object);
}

}  // namespace

std::uint64_t ParamFieldDescriptor::id() const noexcept {
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < 8; ++i) id = id << 8 | hash[i];
  return id;
}

ParamSchema::ParamSchema(ParamSchemaName name, std::vector<ParamFieldDescriptor> fields,
                         std::vector<std::string> group_descriptions)
    : id_(name.id), version_(name.version), fields_(std::move(fields)) {
  std::ranges::sort(fields_, std::less<>{}, &ParamFieldDescriptor::path);
  for (ParamFieldDescriptor& field : fields_) {
    Object facts = name_of("weftline.param-field", id_, version_);
    facts.emplace("path", field.path);
    field.hash = hash_of(facts);
  }
  structural_hash_ =
      hash_fields(name_of("weftline.param-structure", id_, version_), fields_, structure);
  contract_hash_ =
      hash_fields(name_of("weftline.param-contract", id_, version_), fields_, contract);
  Object about = name_of("weftline.param-metadata", id_, version_);
  Array groups(group_descriptions.begin(), group_descriptions.end());
  about.emplace("groups", sorted(std::move(groups)));
  metadata_hash_ = hash_fields(std::move(about), fields_, metadata);
}

const ParamFieldDescriptor* ParamSchema::find(std::string_view path) const noexcept {
  const auto found =
      std::ranges::lower_bound(fields_, path, std::less<>{}, &ParamFieldDescriptor::path);
  return found != fields_.end() && found->path == path ? &*found : nullptr;
}

}  // namespace weftline
