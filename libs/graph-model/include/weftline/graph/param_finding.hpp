// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weftline/core/error.hpp"
#include "weftline/graph/param_schema.hpp"

namespace weftline {

/// What is wrong with one value of a parameter. A sensitive value is in none of the texts, nor is
/// its length.
///
///   PARAM_TYPE_MISMATCH      a document's or an update's value is of another type
///   PARAM_FIELD_UNKNOWN      a document names a field that the schema does not have
///   PARAM_FIELD_MISSING      a required field was not given
///   PARAM_OVERFLOW           a number is beyond the field's type
///   PARAM_NOT_FINITE         a float is infinite or no number
///   PARAM_OUT_OF_RANGE       a number is outside its range
///   PARAM_VALUE_NOT_ALLOWED  a value is none of those that the schema lists
///   PARAM_LENGTH             a list, array or string is too short or too long
///   PARAM_ENCODING           a string is no UTF-8
///   PARAM_RULE_BROKEN        a validator says no
struct ParamFinding {
  ErrorCode code{ErrorCode::kInvalidArgument};
  std::string_view token{};
  std::string path{};     ///< "sensor.exposure", "shape[2]"; empty: the document itself.
  std::string message{};  ///< Both sides' values.
  std::string fix{};      ///< What to change.
};

/// A check of one set of values or one document ends after this many findings.
inline constexpr std::size_t kMaximumParamFindings = 32;

namespace params {
/// `params` is an object of the struct that `schema` describes.
[[nodiscard]] std::vector<ParamFinding> validate(const ParamSchema& schema, const void* params);
/// One value for a scalar field, in the field's own type, checked against everything but its
/// validator, which needs the object that the value is written into. An integer is taken wherever
/// the field can hold it, a string where it names an enumerator. An admitted number allocates
/// nothing.
[[nodiscard]] expected<ParamScalar, ParamFinding> admit(const ParamFieldDescriptor& field,
                                                        const ParamScalar& value);
/// What the validator of a scalar field says of the value in `params`; absent: nothing.
[[nodiscard]] std::optional<ParamFinding> broken_rule(const ParamFieldDescriptor& field,
                                                      const void* params);
}  // namespace params

/// Checks values against everything that their schema enforces. Empty: admitted.
template <HasParamSchema P>
[[nodiscard]] std::vector<ParamFinding> validate_params(const P& values) {
  return params::validate(ParamSchema::of<P>(), &values);
}

/// All findings as one error, with code and token of the first: "level: the value is 11, …; …".
/// `findings` is not empty.
[[nodiscard]] Error param_error(std::span<const ParamFinding> findings);

}  // namespace weftline
