// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>
#include <vector>

#include "fuzz_target.hpp"
#include "weftline/catalog/endpoint_catalog_builder.hpp"
#include "weftline/tensor/tensor.hpp"

namespace {

std::string every_kind_of_endpoint() {
  auto builder = weftline::ChannelEndpointCatalog::builder("fuzz");
  (void)builder.export_topic<float>("mean", "weftline://mean");
  (void)builder.add(
      {.name = "frames",
       .uri = "holomq://camera/frames",
       .direction = weftline::TopicDirection::kImport,
       .payload = weftline::payload_identity<weftline::Tensor>(),
       .queue_policy = weftline::ChannelQueuePolicy::kDropOldest,
       .incarnations = 2,
       .tensor = weftline::TensorBoundaryContract{.memory_kind = weftline::MemoryKind::kPinnedHost,
                                                  .dtype = {kDLUInt, 8, 1},
                                                  .rank = 3,
                                                  .max_byte_span = 1'000}});
  return std::move(builder).build().value().json();
}

}  // namespace

std::vector<std::string> weftline::fuzz::seeds() { return {every_kind_of_endpoint()}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weftline::fuzz::require;
  const auto catalog = weftline::ChannelEndpointCatalog::parse(weftline::fuzz::text_of(data, size));
  if (!catalog) {
    require(!catalog.error().token.empty() && !catalog.error().message.empty(),
            "a refusal without a reason");
    return 0;
  }
  const auto again = weftline::ChannelEndpointCatalog::parse(catalog->json());
  require(again.has_value(), "a catalog refuses its own text");
  require(again->json() == catalog->json(), "a catalog's text is not canonical");
  require(again->digest() == catalog->digest(), "equal catalogs have two digests");
  return 0;
}
