// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/core/error.hpp"
#include "weftline/core/json.hpp"

namespace weftline {

[[nodiscard]] JsonValue record_to_json(const EndpointRecord& record);

/// Reads what `record_to_json` writes. Checks form only (keys, kinds, spelling, widths); the
/// message names the place, which starts with `path`. Rules between values are `checked_record`'s.
[[nodiscard]] expected<EndpointRecord, Error> record_from_json(const JsonValue& value,
                                                               const std::string& path);

}  // namespace weftline
