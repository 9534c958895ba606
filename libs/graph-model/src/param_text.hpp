// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "weftline/core/json.hpp"
#include "weftline/graph/param_schema.hpp"

namespace weftline::params {

/// The shortest decimal text that gives the number back, of a float when `bits` is 32.
[[nodiscard]] std::string float_text(double number, unsigned bits);

/// For messages: quoted, control characters escaped, at most 64 bytes of it.
[[nodiscard]] std::string quoted(std::string_view text);

/// One element as canonical JSON.
[[nodiscard]] JsonValue scalar_json(const ParamFieldDescriptor& field, const ParamScalar& scalar);
/// The same for messages, with the field's unit.
[[nodiscard]] std::string scalar_text(const ParamFieldDescriptor& field, const ParamScalar& scalar);
/// The values that a field lists, "host, pinned".
[[nodiscard]] std::string choices_text(const ParamFieldDescriptor& field);

}  // namespace weftline::params
