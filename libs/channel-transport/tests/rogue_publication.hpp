// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <random>

#include "channel_fixture.hpp"
#include "discovery_record.hpp"
#include "memory_segment.hpp"
#include "next_packet.hpp"
#include "ring_geometry.hpp"
#include "runtime_directory.hpp"
#include "seqpacket_socket.hpp"
#include "wake_socket.hpp"

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

/// A publisher that attaches a subscriber by the rules and then writes what it likes.
struct RogueLink {
  RogueLink(const RoguePublication& publication, const EndpointRecord& endpoint)
      : geometry(*ring_geometry(endpoint)),
        frames(*create_segment("frames", geometry.frames_bytes())),
        claims(*create_segment("claims", kSegmentPage)),
        wake(*WakeSocket::create()),
        socket(publication.accept()) {
    REQUIRE(next_packet(socket).has_value());  // the hello
    const Incarnation& incarnation = publication.content.incarnation;
    page().header = geometry.frames_header(incarnation);
    reinterpret_cast<ClaimsPage*>(claims.mapping.data())->header = {kClaimsMagic, kWireVersion, 0,
                                                                    incarnation};
    REQUIRE(seal_segment(frames, SegmentWriter::kThisProcess));
    REQUIRE(seal_segment(claims, SegmentWriter::kReceiver));
    auto welcome = make_message<WelcomeMessage>();
    welcome.incarnation = incarnation;
    const std::array<int, WelcomeMessage::kDescriptors> descriptors{
        frames.fd.get(), claims.fd.get(), wake.there.get()};
    REQUIRE(send_message(socket.get(), welcome, descriptors));
    const auto attached = next_packet(socket);
    REQUIRE(attached.has_value());
    REQUIRE(parse_message<AttachedMessage>(*attached).has_value());
  }
  [[nodiscard]] FramesPage& page() const {
    return *reinterpret_cast<FramesPage*>(frames.mapping.data());
  }

  RingGeometry geometry;
  Segment frames;
  Segment claims;
  WakeSocket::Pair wake;
  UniqueFd socket;
};

}  // namespace weftline::test
