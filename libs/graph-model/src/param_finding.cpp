// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/param_finding.hpp"

#include <algorithm>
#include <cmath>
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

}  // namespace

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
  if (good && field.obeys_rule && !field.obeys_rule(params)) {
    const bool shown = field.type.shape == ParamShape::kScalar;
    findings.add("PARAM_RULE_BROKEN", field.path,
                 (shown ? value_is(field, value.front()) : std::string("the value is refused")) +
                     ", it must " + field.rule,
                 "give a value that does");
  }
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
