// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "weftline/core/json.hpp"
#include "weftline/graph/param_finding.hpp"
#include "weftline/graph/param_schema.hpp"

namespace weftline {

// Parameters as JSON: an object with a member for each field, objects in it for nested structs.
//   bool                     true, false
//   integers                 integers; durations are in nanoseconds
//   float, double            any finite JSON number, or its decimal text as a string
//   enums                    the names that enum_values() gives
//   arrays, lists            arrays
// A field that a document leaves out has the struct's default, unless it is required.

namespace params {
/// Writes what the document gives into `params`, an object of the struct that `schema` describes.
/// With findings, some fields may have been written.
[[nodiscard]] std::vector<ParamFinding> decode(const ParamSchema& schema, const JsonValue& document,
                                               void* params);
[[nodiscard]] JsonValue encode(const ParamSchema& schema, const void* params);
/// One field's value, sensitive or not: for who must not show it.
[[nodiscard]] JsonValue encode(const ParamFieldDescriptor& field, const ParamValue& value);
}  // namespace params

/// The values of a document, checked against the schema. The error holds all findings (see
/// param_finding.hpp), each with its path.
template <HasParamSchema P>
[[nodiscard]] expected<P, Error> decode_params(const JsonValue& document) {
  P values{};
  const auto findings = params::decode(ParamSchema::of<P>(), document, &values);
  if (!findings.empty()) return make_unexpected(param_error(findings));
  return values;
}

/// The same from untrusted text; what is no JSON, or says one thing twice, has the errors of
/// `parse_json()`.
template <HasParamSchema P>
[[nodiscard]] expected<P, Error> parse_params(std::string_view json, JsonLimits limits = {}) {
  limits.decimals = true;
  WEFTLINE_ASSIGN(const JsonValue document, parse_json(json, limits));
  return decode_params<P>(document);
}

/// Canonical: equal values give equal bytes on every machine. Floats are the shortest decimal text
/// that gives them back, as a string. Sensitive fields are left out. `decode_params()` takes it.
template <HasParamSchema P>
[[nodiscard]] JsonValue params_to_json(const P& values) {
  return params::encode(ParamSchema::of<P>(), &values);
}

}  // namespace weftline
