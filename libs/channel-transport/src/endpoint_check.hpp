// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "weftline/catalog/endpoint_catalog.hpp"
#include "weftline/channel/channel_runtime.hpp"
#include "weftline/core/error.hpp"
#include "weftline/core/payload.hpp"

namespace weftline::channel {

enum class EndpointRole : std::uint8_t { kPublisher = 0, kSubscriber };

/// The catalog's record of an endpoint, after checking that this side may have this role on it with
/// this payload and these options.
[[nodiscard]] expected<const EndpointRecord*, Error> check_endpoint(
    const ChannelEndpointCatalog& catalog, std::string_view endpoint, EndpointRole role,
    EndpointSide side, const PayloadIdentity& payload, const ChannelAttachOptions& options);

}  // namespace weftline::channel
