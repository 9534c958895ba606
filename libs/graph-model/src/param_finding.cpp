// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_finding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "param_findings.hpp"
#include "param_text.hpp"
#include "weftline/core/json.hpp"

namespace weftline {
namespace params {
namespace {

/// "the value is 11 us", or without the number where it is a secret.
std::string value_is(const ParamFieldDescriptor& field, const ParamScalar& scalar) {
  if (field.sensitive) return "the value (sensitive, not shown) is refused";
  return "the value is " + scalar_text(field, scalar);
}

/// The JSON parser knows UTF-8 already.
bool is_utf8(const std::string& text) {
  const auto parsed = parse_json(JsonValue(text).dump(), {.max_bytes = ~std::size_t{0}});
  return parsed || parsed.error().token != "JSON_ENCODING";
}

/// The first thing that is wrong with one element; true when nothing is.
bool check_element(const ParamFieldDescriptor& field, const std::string& path,
                   const ParamScalar& scalar, Findings& findings) {
  if (const auto* number = std::get_if<double>(&scalar); number && !std::isfinite(*number)) {
    findings.add("PARAM_NOT_FINITE", path,
                 value_is(field, scalar) + ", the field takes finite numbers",
                 "give a finite number");
    return false;
  }
  if (const auto* text = std::get_if<std::string>(&scalar)) {
    if (!is_utf8(*text)) {
      findings.add("PARAM_ENCODING", path, "the string is no UTF-8", "give UTF-8 text");
      return false;
    }
    // Of a list of strings, the length is that of the list.
    if (field.type.shape == ParamShape::kScalar &&
        !check_length(field, path, text->size(), findings)) {
      return false;
    }
  }
  const auto& low = field.minimum;
  const auto& high = field.maximum;
  if (low && high && (scalar < *low || scalar > *high)) {
    const std::string range = scalar_text(field, *low) + " to " + scalar_text(field, *high);
    findings.add("PARAM_OUT_OF_RANGE", path, value_is(field, scalar) + ", the range is " + range,
                 "give a value in the range");
    return false;
  }
  const bool listed =
      std::ranges::find(field.choices, scalar, &ParamFieldDescriptor::Choice::value) !=
      field.choices.end();
  if (!field.choices.empty() && !listed) {
    findings.add("PARAM_VALUE_NOT_ALLOWED", path,
                 value_is(field, scalar) + ", admitted are " + choices_text(field),
                 "give one of these");
    return false;
  }
  return true;
}

ParamFinding finding(std::string_view token, const ParamFieldDescriptor& field, std::string message,
                     std::string fix, ErrorCode code = ErrorCode::kInvalidArgument) {
  return {code, token, field.path, std::move(message), std::move(fix)};
}

std::string_view alternative_name(const ParamScalar& value) {
  constexpr std::array<std::string_view, std::variant_size_v<ParamScalar>> kNames{
      "a bool", "an integer", "an unsigned integer", "a float", "a string"};
  return kNames[value.index()];
}

tl::unexpected<ParamFinding> mismatch(const ParamFieldDescriptor& field, const ParamScalar& value) {
  return make_unexpected(finding("PARAM_TYPE_MISMATCH", field,
                                 "the value is " + std::string(alternative_name(value)) +
                                     ", the field is " + param_type_name(field.type),
                                 "give a value of that type"));
}

tl::unexpected<ParamFinding> beyond(const ParamFieldDescriptor& field, const ParamScalar& value) {
  return make_unexpected(
      finding("PARAM_OVERFLOW", field,
              value_is(field, value) + ", beyond the type " + param_type_name(field.type),
              "give a number that the type can hold", ErrorCode::kArithmeticOverflow));
}

expected<ParamScalar, ParamFinding> to_integer(const ParamFieldDescriptor& field,
                                               const ParamScalar& value) {
  const auto* with_sign = std::get_if<std::int64_t>(&value);
  const auto* without = std::get_if<std::uint64_t>(&value);
  if (with_sign == nullptr && without == nullptr) return mismatch(field, value);
  const unsigned spare = 64U - field.type.bits;
  if (!field.type.is_signed) {
    if (with_sign != nullptr && *with_sign < 0) return beyond(field, value);
    const auto number = with_sign != nullptr ? static_cast<std::uint64_t>(*with_sign) : *without;
    if (number > std::numeric_limits<std::uint64_t>::max() >> spare) return beyond(field, value);
    return number;
  }
  if (without != nullptr && *without > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return beyond(field, value);
  }
  const auto number = with_sign != nullptr ? *with_sign : static_cast<std::int64_t>(*without);
  const bool held = number <= std::numeric_limits<std::int64_t>::max() >> spare &&
                    number >= std::numeric_limits<std::int64_t>::min() >> spare;
  if (!held) return beyond(field, value);
  return number;
}

expected<ParamScalar, ParamFinding> to_float(const ParamFieldDescriptor& field,
                                             const ParamScalar& value) {
  double number = 0;
  if (const auto* given = std::get_if<double>(&value)) {
    number = *given;
  } else if (const auto* with_sign = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*with_sign);
  } else if (const auto* without = std::get_if<std::uint64_t>(&value)) {
    number = static_cast<double>(*without);
  } else {
    return mismatch(field, value);
  }
  if (field.type.bits != 32 || !std::isfinite(number)) return number;
  if (std::abs(number) > double{std::numeric_limits<float>::max()}) return beyond(field, value);
  return static_cast<double>(static_cast<float>(number));
}

expected<ParamScalar, ParamFinding> to_type_of(const ParamFieldDescriptor& field,
                                               const ParamScalar& value) {
  switch (field.type.kind) {
    case ParamKind::kBool:
      if (!std::holds_alternative<bool>(value)) return mismatch(field, value);
      return value;
    case ParamKind::kString:
      if (!std::holds_alternative<std::string>(value)) return mismatch(field, value);
      return value;
    case ParamKind::kFloat:
      return to_float(field, value);
    case ParamKind::kInteger:
    case ParamKind::kUnsigned:
    case ParamKind::kDuration:
      return to_integer(field, value);
    case ParamKind::kEnum: {
      const auto* name = std::get_if<std::string>(&value);
      if (name == nullptr) return to_integer(field, value);
      const auto named =
          std::ranges::find(field.choices, *name, &ParamFieldDescriptor::Choice::name);
      if (named != field.choices.end()) return named->value;
      return make_unexpected(finding("PARAM_VALUE_NOT_ALLOWED", field,
                                     "the value is " +
                                         (field.sensitive ? "not shown" : quoted(*name)) +
                                         ", admitted are " + choices_text(field),
                                     "give one of these"));
    }
  }
  return mismatch(field, value);
}

}  // namespace

expected<ParamScalar, ParamFinding> admit(const ParamFieldDescriptor& field,
                                          const ParamScalar& value) {
  if (field.type.shape != ParamShape::kScalar) return mismatch(field, value);
  auto own = to_type_of(field, value);
  if (!own) return own;
  Findings findings;
  if (check_element(field, field.path, *own, findings)) return own;
  return make_unexpected(std::move(std::move(findings).take().front()));
}

std::optional<ParamFinding> broken_rule(const ParamFieldDescriptor& field, const void* params) {
  if (!field.obeys_rule || field.obeys_rule(params)) return std::nullopt;
  const bool shown = field.type.shape == ParamShape::kScalar;
  return finding(
      "PARAM_RULE_BROKEN", field,
      (shown ? value_is(field, field.read(params).front()) : std::string("the value is refused")) +
          ", it must " + field.rule,
      "give a value that does");
}

std::string element_path(const ParamFieldDescriptor& field, std::size_t index) {
  // An index would tell how long a sensitive list is.
  if (field.type.shape == ParamShape::kScalar || field.sensitive) return field.path;
  return field.path + "[" + std::to_string(index) + "]";
}

bool check_length(const ParamFieldDescriptor& field, const std::string& path, std::uint64_t length,
                  Findings& findings) {
  if (length >= field.min_length && length <= field.max_length) return true;
  const std::string limits =
      std::to_string(field.min_length) + " to " + std::to_string(field.max_length);
  findings.add("PARAM_LENGTH", path,
               (field.sensitive ? "the length (sensitive, not shown) is refused"
                                : "the length is " + std::to_string(length)) +
                   ", the field takes " + limits +
                   (field.type.shape == ParamShape::kList ? " elements" : " bytes"),
               "give a value of that length");
  return false;
}

void check_field(const ParamFieldDescriptor& field, const void* params, Findings& findings) {
  const ParamValue value = field.read(params);
  bool good = true;
  if (field.type.shape == ParamShape::kList) {
    good = check_length(field, field.path, value.size(), findings);
  }
  for (std::size_t i = 0; i < value.size() && !findings.full(); ++i) {
    good = check_element(field, element_path(field, i), value[i], findings) && good;
  }
  if (!good) return;
  if (auto broken = broken_rule(field, params)) findings.add(std::move(*broken));
}

std::vector<ParamFinding> validate(const ParamSchema& schema, const void* params) {
  Findings findings;
  for (const ParamFieldDescriptor& field : schema.fields()) check_field(field, params, findings);
  return std::move(findings).take();
}

}  // namespace params

Error param_error(std::span<const ParamFinding> findings) {
  std::string message;
  for (const ParamFinding& finding : findings) {
    message.append(message.empty() ? "" : "; ");
    if (!finding.path.empty()) message.append(finding.path).append(": ");
    message.append(finding.message).append(" (").append(finding.fix).append(")");
  }
  return {findings.front().code, findings.front().token, std::move(message), 0};
}

}  // namespace weftline
