// SPDX-License-Identifier: Apache-2.0
// The endpoint that another process tells of itself, in its discovery record and when it connects.
#include "discovery_record.hpp"
#include "fuzz_target.hpp"

std::vector<std::string> weftline::fuzz::seeds() {
  EndpointRecord endpoint{
      .name = "mean", .uri = "weftline://mean", .payload = payload_identity<float>()};
  return {channel::endpoint_to_json("fuzz", endpoint).value()};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weftline::fuzz::require;
  const auto endpoint = weftline::channel::endpoint_from_json(weftline::fuzz::text_of(data, size));
  if (!endpoint) {
    require(!endpoint.error().token.empty(), "a refusal without a reason");
    return 0;
  }
  const auto text = weftline::channel::endpoint_to_json("fuzz", *endpoint);
  if (!text) return 0;
  const auto again = weftline::channel::endpoint_from_json(*text);
  require(again.has_value(), "an endpoint refuses its own text");
  require(weftline::channel::endpoint_to_json("fuzz", *again).value() == *text,
          "an endpoint's text is not canonical");
  return 0;
}
