// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_json.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <system_error>

#include "param_findings.hpp"
#include "param_text.hpp"

namespace weftline::params {
namespace {

/// "the string \"abc\"", "12"; of a secret only its JSON type.
std::string described(const JsonValue& json, bool secret) {
  if (json.is_null()) return "null";
  if (json.as_object() != nullptr) return "an object";
  if (json.as_array() != nullptr) return "an array";
  if (const auto* text = json.as_string())
    return secret ? "a string" : "the string " + quoted(*text);
  if (json.as_bool() != nullptr) return secret ? "a boolean" : json.dump();
  if (secret) return "a number";
  const std::string number = json.dump();
  return number.size() <= 64 ? number : number.substr(0, 64) + "…";
}

std::string how_to_write(const ParamFieldDescriptor& field) {
  switch (field.type.kind) {
    case ParamKind::kBool:
      return "write true or false";
    case ParamKind::kInteger:
    case ParamKind::kUnsigned:
      return "write an integer without fraction or exponent";
    case ParamKind::kFloat:
      return "write a finite number";
    case ParamKind::kDuration:
      return "write an integer, in nanoseconds";
    case ParamKind::kEnum:
      return "write one of " + choices_text(field) + " as a string";
    case ParamKind::kString:
      break;
  }
  return "write a string";
}

/// A key as part of a path: quoted where it is no name that a field could have.
std::string shown_key(const std::string& key) {
  const bool plain =
      !key.empty() && key.size() <= 64 && std::ranges::all_of(key, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
      });
  return plain ? key : quoted(key);
}

/// Decodes one document into one object.
class Decoder {
 public:
  Decoder(const ParamSchema& schema, void* params) : schema_(schema), params_(params) {}

  std::vector<ParamFinding> decode(const JsonValue& document) && {
    if (const auto* object = document.as_object()) {
      decode_object(*object, {});
    } else {
      findings_.add("PARAM_TYPE_MISMATCH", {}, "the document is no object",
                    "write an object with a member for each field");
      return std::move(findings_).take();
    }
    for (const ParamFieldDescriptor& field : schema_.fields()) {
      if (field.required && !seen_.contains(&field)) {
        findings_.add("PARAM_FIELD_MISSING", field.path, "the document lacks this required field",
                      "add it: " + how_to_write(field));
      } else if (!broken_.contains(&field)) {
        check_field(field, params_, findings_);
      }
    }
    return std::move(findings_).take();
  }

 private:
  /// No deeper than the schema's own nesting, whatever the document holds.
  void decode_object(const JsonValue::Object& object, const std::string& prefix) {
    for (const auto& [key, value] : object) {
      if (findings_.full()) return;
      // A dot in a key is no way into a nested struct.
      const bool plain = key.find('.') == std::string::npos;
      const ParamFieldDescriptor* field = plain ? schema_.find(prefix + key) : nullptr;
      if (field != nullptr) {
        seen_.insert(field);
        if (!decode_field(*field, value)) broken_.insert(field);
      } else if (plain && is_group(prefix + key + ".")) {
        decode_group(prefix + key, value);
      } else {
        report_unknown(key, prefix);
      }
    }
  }

  [[nodiscard]] auto group(const std::string& prefix) const {
    const auto in_group = [&](const ParamFieldDescriptor& field) {
      return field.path.starts_with(prefix);
    };
    std::vector<const ParamFieldDescriptor*> members;
    for (const auto& field : schema_.fields()) {
      if (in_group(field)) members.push_back(&field);
    }
    return members;
  }
  [[nodiscard]] bool is_group(const std::string& prefix) const { return !group(prefix).empty(); }

  void decode_group(const std::string& path, const JsonValue& value) {
    if (const auto* object = value.as_object()) return decode_object(*object, path + ".");
    const auto members = group(path + ".");
    for (const ParamFieldDescriptor* member : members) {
      seen_.insert(member);
      broken_.insert(member);
    }
    const bool secret = std::ranges::any_of(members, &ParamFieldDescriptor::sensitive);
    findings_.add("PARAM_TYPE_MISMATCH", path,
                  "the document gives " + described(value, secret) + ", the field is a struct",
                  "write an object with a member for each field");
  }

  void report_unknown(const std::string& key, const std::string& prefix) {
    std::set<std::string> names;
    for (const ParamFieldDescriptor* field : group(prefix)) {
      const std::string rest = field->path.substr(prefix.size());
      names.insert(rest.substr(0, rest.find('.')));
    }
    std::string known;
    for (const std::string& name : names) known.append(known.empty() ? "" : ", ").append(name);
    findings_.add("PARAM_FIELD_UNKNOWN", prefix + shown_key(key),
                  known.empty() ? "the schema has no such field, and no other"
                                : "the schema has no such field; it has " + known,
                  "correct the name, or take it out", ErrorCode::kNotFound);
  }

  bool decode_field(const ParamFieldDescriptor& field, const JsonValue& json) {
    if (field.type.shape == ParamShape::kScalar) {
      const auto scalar = decode_scalar(field, field.path, json);
      if (scalar) field.write(params_, {*scalar});
      return scalar.has_value();
    }
    const auto* array = json.as_array();
    if (array == nullptr) {
      mismatch(field, field.path, json, "write an array");
      return false;
    }
    if (field.type.shape == ParamShape::kArray && array->size() != field.type.count) {
      findings_.add("PARAM_LENGTH", field.path,
                    (field.sensitive ? "the length (sensitive, not shown) is refused"
                                     : "the length is " + std::to_string(array->size())) +
                        ", the field takes " + std::to_string(field.type.count) + " elements",
                    "give a value of that length");
      return false;
    }
    if (field.type.shape == ParamShape::kList &&
        !check_length(field, field.path, array->size(), findings_)) {
      return false;
    }
    ParamValue value;
    for (std::size_t i = 0; i < array->size() && !findings_.full(); ++i) {
      if (auto scalar = decode_scalar(field, element_path(field, i), (*array)[i])) {
        value.push_back(std::move(*scalar));
      }
    }
    if (value.size() != array->size()) return false;
    field.write(params_, value);
    return true;
  }

  std::optional<ParamScalar> decode_scalar(const ParamFieldDescriptor& field,
                                           const std::string& path, const JsonValue& json) {
    switch (field.type.kind) {
      case ParamKind::kBool:
        if (const bool* value = json.as_bool()) return *value;
        break;
      case ParamKind::kString:
        if (const std::string* value = json.as_string()) return *value;
        break;
      case ParamKind::kEnum:
        if (const std::string* name = json.as_string()) return decode_enum(field, path, *name);
        break;
      case ParamKind::kFloat:
        if (const auto text = number_text(json)) return decode_float(field, path, json, *text);
        break;
      case ParamKind::kInteger:
      case ParamKind::kUnsigned:
      case ParamKind::kDuration:
        return decode_integer(field, path, json);
    }
    mismatch(field, path, json, how_to_write(field));
    return std::nullopt;
  }

  std::optional<ParamScalar> decode_enum(const ParamFieldDescriptor& field, const std::string& path,
                                         const std::string& name) {
    const auto found = std::ranges::find(field.choices, name, &ParamFieldDescriptor::Choice::name);
    if (found != field.choices.end()) return found->value;
    findings_.add("PARAM_VALUE_NOT_ALLOWED", path,
                  "the document gives " + described(name, field.sensitive) + ", admitted are " +
                      choices_text(field),
                  "give one of these");
    return std::nullopt;
  }

  static std::optional<std::string> number_text(const JsonValue& json) {
    if (const auto* decimal = json.as_decimal()) return decimal->text;
    if (const auto* text = json.as_string()) return *text;
    if (json.as_uint() != nullptr || json.as_negative() != nullptr) return json.dump();
    return std::nullopt;
  }

  template <class Float>
  static std::from_chars_result read(const std::string& text, double& number) {
    Float value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    number = static_cast<double>(value);
    return result;
  }

  std::optional<ParamScalar> decode_float(const ParamFieldDescriptor& field,
                                          const std::string& path, const JsonValue& json,
                                          const std::string& text) {
    double number = 0;
    const auto result =
        field.type.bits == 32 ? read<float>(text, number) : read<double>(text, number);
    if (result.ptr != text.data() + text.size() || result.ec == std::errc::invalid_argument) {
      mismatch(field, path, json, how_to_write(field));
      return std::nullopt;
    }
    if (result.ec == std::errc::result_out_of_range) return overflow(field, path, json);
    if (!std::isfinite(number)) {
      findings_.add("PARAM_NOT_FINITE", path,
                    "the document gives " + described(json, field.sensitive) +
                        ", the field takes finite numbers",
                    how_to_write(field));
      return std::nullopt;
    }
    return number;
  }

  std::optional<ParamScalar> decode_integer(const ParamFieldDescriptor& field,
                                            const std::string& path, const JsonValue& json) {
    const unsigned spare = 64U - field.type.bits;
    if (const std::uint64_t* number = json.as_uint()) {
      if (!field.type.is_signed) {
        if (*number <= std::numeric_limits<std::uint64_t>::max() >> spare) return *number;
      } else if (*number <=
                 static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() >> spare)) {
        return static_cast<std::int64_t>(*number);
      }
      return overflow(field, path, json);
    }
    if (const std::int64_t* number = json.as_negative()) {
      if (field.type.is_signed && *number >= std::numeric_limits<std::int64_t>::min() >> spare) {
        return *number;
      }
      return overflow(field, path, json);
    }
    const JsonDecimal* decimal = json.as_decimal();
    if (decimal != nullptr && decimal->text.find_first_of(".eE") == std::string::npos) {
      return overflow(field, path, json);
    }
    mismatch(field, path, json, how_to_write(field));
    return std::nullopt;
  }

  std::nullopt_t overflow(const ParamFieldDescriptor& field, const std::string& path,
                          const JsonValue& json) {
    findings_.add("PARAM_OVERFLOW", path,
                  "the document gives " + described(json, field.sensitive) + ", beyond the type " +
                      param_type_name(field.type),
                  "give a number that the type can hold", ErrorCode::kArithmeticOverflow);
    return std::nullopt;
  }

  void mismatch(const ParamFieldDescriptor& field, const std::string& path, const JsonValue& json,
                std::string fix) {
    findings_.add("PARAM_TYPE_MISMATCH", path,
                  "the document gives " + described(json, field.sensitive) + ", the field is " +
                      param_type_name(field.type),
                  std::move(fix));
  }

  const ParamSchema& schema_;
  void* params_;
  std::set<const ParamFieldDescriptor*> seen_{};
  std::set<const ParamFieldDescriptor*> broken_{};
  Findings findings_{};
};

void insert_at(JsonValue::Object& object, std::string_view path, JsonValue value) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    object.emplace(path, std::move(value));
    return;
  }
  JsonValue& group = object[std::string(path.substr(0, dot))];
  JsonValue::Object members =
      group.as_object() != nullptr ? *group.as_object() : JsonValue::Object{};
  insert_at(members, path.substr(dot + 1), std::move(value));
  group = std::move(members);
}

}  // namespace

std::vector<ParamFinding> decode(const ParamSchema& schema, const JsonValue& document,
                                 void* params) {
  return Decoder(schema, params).decode(document);
}

JsonValue encode(const ParamFieldDescriptor& field, const ParamValue& value) {
  if (field.type.shape == ParamShape::kScalar) return scalar_json(field, value.front());
  JsonValue::Array items;
  for (const ParamScalar& scalar : value) items.push_back(scalar_json(field, scalar));
  return items;
}

JsonValue encode(const ParamSchema& schema, const void* params) {
  JsonValue::Object object;
  for (const ParamFieldDescriptor& field : schema.fields()) {
    if (!field.sensitive) insert_at(object, field.path, encode(field, field.read(params)));
  }
  return object;
}

}  // namespace weftline::params
