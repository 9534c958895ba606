// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "weftline/catalog/endpoint_catalog.hpp"

namespace weftline {

struct ChannelEndpointCatalog::State {
  std::string deployment_id{};
  std::vector<EndpointRecord> endpoints{};
  std::string json{};
  std::string digest{};
};

inline constexpr std::string_view kCatalogSchema = "weftline.endpoint-catalog";
inline constexpr std::uint32_t kCatalogVersion = 2;

}  // namespace weftline
