// SPDX-License-Identifier: Apache-2.0
#include "publisher_link_table.hpp"

#include <mutex>
#include <optional>

#include "channel_fixture.hpp"
#include "runtime_directory.hpp"
#include "wire_metadata.hpp"

namespace weftline::channel {

namespace {

std::unique_ptr<PublisherLink> link_with_drops(std::uint32_t drops) {
  EndpointRecord endpoint;
  endpoint.payload = payload_identity<std::uint32_t>();
  endpoint.queue_policy = ChannelQueuePolicy::kDropOldest;
  endpoint.queue_depth = 1;
  PublisherRing::Handover handover;
  auto ring = PublisherRing::create(*ring_geometry(endpoint), Incarnation{1}, handover);
  REQUIRE(ring.has_value());
  const std::uint32_t body = 0;
  for (std::uint32_t n = 0; n < drops + 1; ++n) {
    ring->write(to_wire({}), std::as_bytes(std::span(&body, 1)));
  }
  return std::make_unique<PublisherLink>(std::move(*ring));
}

}  // namespace

TEST_CASE("the count of drops does not go back when a link is retired under an emit") {
  const test::TemporaryDirectory directory;
  const auto service = ServiceThread::start(*open_runtime_directory(directory.path()));
  REQUIRE(service.has_value());
  PublisherLinkTable table(2, **service);
  auto first = link_with_drops(3);
  auto second = link_with_drops(4);
  table.add(*first);
  table.add(*second);
  CHECK(table.dropped() == 7);
  {
    const PublisherLinkTable::Emit emit(table);
    table.retire(std::move(first));
  }
  CHECK(table.dropped() == 7);
  table.free_retired();
  CHECK(table.dropped() == 7);
  table.retire(std::move(second));
  CHECK(table.dropped() == 7);
}

}  // namespace weftline::channel
