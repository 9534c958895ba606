// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <random>

#include "channel_fixture.hpp"
#include "discovery_record.hpp"
#include "runtime_directory.hpp"
#include "seqpacket_socket.hpp"

namespace weftline::test {

using namespace weftline::channel;

/// Random like a publisher's: it names a socket that every process of the machine shares.
inline Incarnation rogue_incarnation() {
  std::random_device random;
  Incarnation incarnation{1};
  for (std::size_t byte = 1; byte < incarnation.size(); ++byte)
    incarnation[byte] = static_cast<std::uint8_t>(random());
  return incarnation;
}

/// A publisher's record and socket for the endpoint "frames", with the test in its place.
struct RoguePublication {
  RoguePublication(const TemporaryDirectory& directory, const ChannelEndpointCatalog& catalog)
      : opened(*open_runtime_directory(directory.path())) {
    content.pid = ::getpid();
    content.incarnation = rogue_incarnation();
    content.endpoint_json = *endpoint_to_json("test-deployment", *catalog.find("frames"));
    auto listening = listen_for(content.incarnation);
    REQUIRE(listening.has_value());
    listener = std::move(*listening);
    auto created = DiscoveryRecord::create(
        opened.fd.get(), record_file_name("test-deployment", "frames"), content, "frames");
    REQUIRE(created.has_value());
    record.emplace(std::move(*created));
  }
  [[nodiscard]] bool has_visitor(int timeout_ms) const {
    pollfd query{listener.get(), POLLIN, 0};
    return ::poll(&query, 1, timeout_ms) == 1;
  }
  /// Waits for a subscriber.
  [[nodiscard]] UniqueFd accept() const {
    REQUIRE(has_visitor(60'000));
    return accept_from(listener.get()).socket;
  }

  RuntimeDirectory opened;
  RecordContent content{};
  UniqueFd listener{};
  std::optional<DiscoveryRecord> record{};
};

}  // namespace weftline::test
