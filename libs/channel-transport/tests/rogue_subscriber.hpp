// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <optional>

#include "channel_fixture.hpp"
#include "discovery_record.hpp"
#include "memory_segment.hpp"
#include "next_packet.hpp"
#include "runtime_directory.hpp"
#include "seqpacket_socket.hpp"

namespace weftline::test {

using namespace weftline::channel;

/// Connects to the one publisher whose record is in the folder, and says nothing.
inline UniqueFd connect_to_publisher(const TemporaryDirectory& directory) {
  const auto opened = open_runtime_directory(directory.path());
  REQUIRE(opened.has_value());
  const RecordSighting seen = look_for_record(opened->fd.get(), directory.files().front());
  REQUIRE(seen.state == RecordState::kLive);
  auto socket = connect_to(seen.content.incarnation);
  REQUIRE(socket.has_value());
  return std::move(*socket);
}

inline bool say_hello(const UniqueFd& socket, const EndpointRecord& endpoint) {
  const auto record = create_sealed_text(*endpoint_to_json("test-deployment", endpoint));
  REQUIRE(record.has_value());
  const int descriptor = record->get();
  return send_message(socket.get(), make_message<HelloMessage>(), std::span(&descriptor, 1));
}

/// A publisher of ours, one honest subscriber, and a way in for a peer that keeps no rules.
struct Publishing {
  explicit Publishing(EndpointOptions options = blocking(), const std::string& name = "frames")
      : catalog(catalog_with<std::uint32_t>(options, name)),
        publisher(make_inline_publisher(runtime, catalog, name)),
        honest(make_inline_subscriber(runtime, catalog, name)) {
    changes.follow(publisher);
    await_subscriber(publisher);
  }

  [[nodiscard]] UniqueFd connect() const { return connect_to_publisher(directory); }
  [[nodiscard]] std::string record_json() const {
    return *endpoint_to_json("test-deployment", *catalog.find("frames"));
  }
  [[nodiscard]] static bool hello(const UniqueFd& socket, int record) {
    return send_message(socket.get(), make_message<HelloMessage>(), std::span(&record, 1));
  }
  /// What the service thread has been told of before this, it has seen after this: room in the
  /// honest subscriber's link comes last. Needs no descriptor.
  void pass_service_thread() {
    while (publish(publisher, next).has_value()) ++next;
    const std::uint64_t before = changes.calls();
    while (receive(honest).has_value()) {
    }
    changes.wait_until([&] { return changes.calls() > before; }, "the news of room");
  }
  /// The honest subscriber still gets frames, so service thread and publisher are alive.
  void check_alive() {
    REQUIRE(publish(publisher, next).has_value());
    CHECK(receive(honest) == next++);
    const std::uint64_t before = publisher.link_counters().attached;
    InlineSubscriber another = make_inline_subscriber(runtime, catalog);
    changes.wait_until([&] { return publisher.link_counters().attached > before; },
                       "another subscriber");
  }

  TemporaryDirectory directory{};
  Changes changes{};
  ChannelRuntime runtime{make_runtime(directory)};
  ChannelEndpointCatalog catalog;
  InlinePublisher publisher;
  InlineSubscriber honest;
  std::uint32_t next{0};
};

/// A subscriber that attaches by the rules and then writes what it likes into its page.
struct RogueSubscriber {
  explicit RogueSubscriber(Publishing& publishing) : socket(publishing.connect()) {
    const auto record = create_sealed_text(publishing.record_json());
    REQUIRE(Publishing::hello(socket, record->get()));
    auto packet = next_packet(socket);
    REQUIRE(packet.has_value());
    REQUIRE(parse_message<WelcomeMessage>(*packet).has_value());
    auto mapped = map_received(packet->descriptors[1], kSegmentPage, SegmentWriter::kReceiver);
    REQUIRE(mapped.has_value());
    claims = std::move(*mapped);
    wake = std::move(packet->descriptors[2]);
    REQUIRE(send_message(socket.get(), make_message<AttachedMessage>()));
  }
  ClaimsPage& page() { return *reinterpret_cast<ClaimsPage*>(claims.data()); }
  UniqueFd socket;
  Mapping claims{};
  UniqueFd wake{};
};

}  // namespace weftline::test
