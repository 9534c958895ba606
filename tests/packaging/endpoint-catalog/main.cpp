// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <iostream>

#include "weftline/catalog/endpoint_catalog_builder.hpp"

int main() {
  auto builder = weftline::ChannelEndpointCatalog::builder("consumer");
  const auto added = builder.export_topic<std::int32_t>("count", "weftline://consumer/count");
  if (!added) {
    std::cout << added.error().message << '\n';
    return 1;
  }
  const auto catalog = std::move(builder).build();
  std::cout << (catalog ? catalog->digest() : catalog.error().message) << '\n';
  return catalog ? 0 : 1;
}
