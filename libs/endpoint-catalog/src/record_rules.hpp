// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/catalog/endpoint_record.hpp"
#include "weftline/core/error.hpp"

namespace weftline {

/// Checks a record against every rule of the catalog and returns it as the catalog keeps it. The
/// one place for these rules: builder and parser both come through here. Messages read "endpoint
/// 'name': field …".
[[nodiscard]] expected<EndpointRecord, Error> checked_record(EndpointRecord record);

}  // namespace weftline
