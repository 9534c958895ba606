// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "publisher_ring.hpp"
#include "rogue_publication.hpp"
#include "rogue_subscriber.hpp"

namespace weftline::test {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("garbage on a publisher's socket is dropped and counted") {
  Publishing publishing;
  const UniqueFd socket = publishing.connect();
  std::vector<std::byte> bytes;
  SECTION("one byte") { bytes.resize(1); }
  SECTION("noise") { bytes.assign(200, std::byte{0x5a}); }
  SECTION("longer than any message") { bytes.assign(kMaximumMessageBytes + 1, std::byte{1}); }
  SECTION("half a hello") {
    const auto message = make_message<HelloMessage>();
    const auto whole = std::as_bytes(std::span(&message, 1));
    bytes.assign(whole.begin(), whole.begin() + 8);
  }
  REQUIRE(send_bytes(socket.get(), bytes, {}));
  CHECK_FALSE(next_packet(socket).has_value());
  CHECK(publishing.publisher.link_counters().refused == 1);
  CHECK(publishing.publisher.subscriber_count() == 1);
  publishing.check_alive();
}

TEST_CASE("a hello that breaks the contract is refused with the reason") {
  Publishing publishing;
  const UniqueFd socket = publishing.connect();
  const auto record = create_sealed_text(publishing.record_json());
  REQUIRE(record.has_value());
  std::string reason;
  SECTION("another wire version") {
    auto message = make_message<HelloMessage>();
    message.header.version = kWireVersion + 1;
    const int fd = record->get();
    REQUIRE(send_message(socket.get(), message, std::span(&fd, 1)));
    CHECK_THAT(refusal_text(socket),
               ContainsSubstring("wire version " + std::to_string(kWireVersion)) &&
                   ContainsSubstring(std::to_string(kWireVersion + 1)));
  }
  SECTION("no record") {
    REQUIRE(send_message(socket.get(), make_message<HelloMessage>()));
    CHECK_THAT(refusal_text(socket), ContainsSubstring("malformed"));
  }
  SECTION("too many descriptors") {
    const std::array<int, 3> fds{record->get(), record->get(), record->get()};
    REQUIRE(send_message(socket.get(), make_message<HelloMessage>(), fds));
    CHECK_THAT(refusal_text(socket), ContainsSubstring("malformed"));
  }
  SECTION("a record that could still change") {
    const auto segment = create_segment("open", kSegmentPage);
    REQUIRE(Publishing::hello(socket, segment->fd.get()));
    CHECK_THAT(refusal_text(socket), ContainsSubstring("sealed"));
  }
  SECTION("a pipe that would block a reader") {
    int pipe[2];
    REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
    const UniqueFd read_end{pipe[0]};
    const UniqueFd write_end{pipe[1]};
    REQUIRE(Publishing::hello(socket, read_end.get()));
    CHECK_THAT(refusal_text(socket), ContainsSubstring("sealed"));
  }
  SECTION("a record that is no record") {
    const auto text = create_sealed_text("[1,2");
    REQUIRE(Publishing::hello(socket, text->get()));
    CHECK_THAT(refusal_text(socket), ContainsSubstring("JSON"));
  }
  SECTION("the record of another endpoint") {
    const auto other = catalog_with<std::uint32_t>(blocking(), "others");
    const auto text = create_sealed_text(*endpoint_to_json("d", *other.find("others")));
    REQUIRE(Publishing::hello(socket, text->get()));
    CHECK_THAT(refusal_text(socket), ContainsSubstring("'frames'") &&
                                         ContainsSubstring("'others'") &&
                                         !ContainsSubstring("same on both"));
  }
  SECTION("another contract") {
    const auto other = catalog_with<std::uint64_t>(blocking());
    const auto text = create_sealed_text(*endpoint_to_json("d", *other.find("frames")));
    REQUIRE(Publishing::hello(socket, text->get()));
    CHECK_THAT(refusal_text(socket), ContainsSubstring("uint32") && ContainsSubstring("uint64"));
  }
  CHECK_FALSE(next_packet(socket).has_value());
  CHECK(publishing.publisher.link_counters().refused == 1);
  publishing.check_alive();
}

TEST_CASE("a peer that leaves in the middle of attaching costs nothing") {
  EndpointOptions options = blocking();
  options.max_subscribers = 2;
  Publishing publishing(options);
  for (int round = 0; round < 5; ++round) {
    const UniqueFd socket = publishing.connect();
    const auto record = create_sealed_text(publishing.record_json());
    REQUIRE(Publishing::hello(socket, record->get()));
    REQUIRE(next_packet(socket).has_value());  // the welcome; never answered
  }
  InlineSubscriber subscriber = make_inline_subscriber(publishing.runtime, publishing.catalog);
  await_subscribers(publishing.publisher, publishing.changes, 2);
}

TEST_CASE("silent peers beyond a bound make way, oldest first, and nobody else does") {
  Publishing publishing;
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 80; ++i) silent.push_back(publishing.connect());
  for (int i = 0; i < 16; ++i) {
    CHECK_THAT(refusal_text(silent[static_cast<std::size_t>(i)]), ContainsSubstring("hello"));
  }
  CHECK(publish(publishing.publisher, 1) == 1U);
  CHECK(receive(publishing.honest) == 1U);
  publishing.next = 2;
  publishing.check_alive();
  pollfd still_silent{silent.back().get(), POLLIN, 0};
  CHECK(::poll(&still_silent, 1, 0) == 0);
}

TEST_CASE("a second hello or a forged message drops the link, not the publisher") {
  Publishing publishing;
  RogueSubscriber rogue(publishing);
  await_subscribers(publishing.publisher, publishing.changes, 2);
  SECTION("hello") {
    const auto record = create_sealed_text(publishing.record_json());
    REQUIRE(Publishing::hello(rogue.socket, record->get()));
  }
  SECTION("attached again") {
    REQUIRE(send_message(rogue.socket.get(), make_message<AttachedMessage>()));
  }
  SECTION("a welcome") {
    REQUIRE(send_message(rogue.socket.get(), make_message<WelcomeMessage>()));
  }
  await_subscribers(publishing.publisher, publishing.changes, 1);
  CHECK(publishing.publisher.link_counters().dropped == 1);
  publishing.check_alive();
}

TEST_CASE("a scribbled claims page costs its own link only") {
  Publishing publishing;
  RogueSubscriber rogue(publishing);
  await_subscribers(publishing.publisher, publishing.changes, 2);
  const std::uint64_t head = GENERATE(std::uint64_t{kDepth + 1}, std::uint64_t{1} << 63,
                                      std::numeric_limits<std::uint64_t>::max());
  for (std::uint32_t n = 0; n < kDepth; ++n) {
    REQUIRE(publish(publishing.publisher, n) == 2U);
    CHECK(receive(publishing.honest) == n);
  }
  rogue.page().progress.head = head;
  rogue.page().wish.data_wanted = 0xffffffff;
  CHECK(publish(publishing.publisher, 50) == 1U);
  CHECK(receive(publishing.honest) == 50U);
  await_subscribers(publishing.publisher, publishing.changes, 1);
  CHECK(publishing.publisher.link_counters().dropped == 1);
  const auto packet = next_packet(rogue.socket);
  REQUIRE(packet.has_value());
  const auto goodbye = parse_message<GoodbyeMessage>(*packet);
  REQUIRE(goodbye.has_value());
  CHECK(goodbye->reason == static_cast<std::uint32_t>(GoodbyeReason::kProtocolError));
  publishing.next = 51;
  publishing.check_alive();
}

TEST_CASE("a subscriber ends the attempt with a publisher that breaks the handshake") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const EndpointRecord& endpoint = *catalog.find("frames");
  const RoguePublication publication(directory, catalog);
  const RecordContent& content = publication.content;
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);
  const UniqueFd socket = publication.accept();
  const auto hello = next_packet(socket);
  REQUIRE(hello.has_value());
  REQUIRE(parse_message<HelloMessage>(*hello).has_value());
  CHECK(read_sealed_text(hello->descriptors[0], 1 << 20) == content.endpoint_json);

  const RingGeometry geometry = *ring_geometry(endpoint);
  PublisherRing::Handover handover;
  const auto ring = PublisherRing::create(geometry, content.incarnation, handover);
  REQUIRE(ring.has_value());
  auto welcome = make_message<WelcomeMessage>();
  welcome.incarnation = content.incarnation;
  const auto unsealed = create_segment("unsealed", geometry.frames_bytes());
  std::array<int, 3> fds{handover.frames.get(), handover.claims.get(), handover.wake.get()};
  const auto send_welcome = [&] { REQUIRE(send_message(socket.get(), welcome, fds)); };

  SECTION("garbage") {
    const std::array<std::byte, 40> bytes{};
    REQUIRE(send_bytes(socket.get(), bytes, {}));
  }
  SECTION("another incarnation than the record's") {
    welcome.incarnation[0] ^= 1;
    send_welcome();
  }
  SECTION("frames that the publisher could still resize") {
    fds[0] = unsealed->fd.get();
    send_welcome();
  }
  SECTION("claims of the wrong size") {
    fds[1] = handover.frames.get();
    send_welcome();
  }
  SECTION("a stream socket in place of a wake socket") {
    fds[2] = socket.get();
    send_welcome();
  }
  SECTION("no descriptors") { REQUIRE(send_message(socket.get(), welcome)); }
  const auto waited = subscriber.wait_and_receive_sample(watchdog());
  CHECK(code_of(waited) == ErrorCode::kProtocolError);
  CHECK_FALSE(waited.error().message.empty());
  CHECK_FALSE(subscriber.has_publishers());
}

TEST_CASE("a publisher that hangs up without a word is left alone") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  RoguePublication publication(directory, catalog);
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);
  publication.accept().reset();
  // The same service thread attaches another endpoint, so it has seen the end before that.
  const auto other = catalog_with<std::uint32_t>(blocking(), "other");
  auto other_publisher = make_publisher(runtime, other, "other");
  auto other_subscriber = make_subscriber(runtime, other, "other");
  await_subscriber(other_publisher);
  publication.record.reset();
  auto publisher = make_publisher(runtime, catalog);
  await_subscriber(publisher);
  CHECK_FALSE(publication.has_visitor(0));
}

TEST_CASE("a frame that no publisher writes ends the link with a protocol error") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const RoguePublication publication(directory, catalog);
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);
  const RogueLink link(publication, *catalog.find("frames"));

  link.page().progress.tail = 1'000;
  link.wake.here.signal();
  CHECK(code_of(subscriber.wait_and_receive_sample(watchdog())) == ErrorCode::kProtocolError);
  CHECK(code_of(subscriber.receive_sample()) == ErrorCode::kProtocolError);
  const auto goodbye = next_packet(link.socket);
  REQUIRE(goodbye.has_value());
  CHECK(parse_message<GoodbyeMessage>(*goodbye).has_value());
  link.page().progress.tail = 0;
  CHECK(code_of(subscriber.receive_sample()) == ErrorCode::kProtocolError);
}

TEST_CASE("a publisher whose link is dropped calls nobody any more") {
  Publishing other(blocking(), "other");
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  const RoguePublication publication(other.directory, catalog);
  Changes changes;
  InlineSubscriber subscriber = make_inline_subscriber(other.runtime, catalog);
  changes.follow(subscriber);
  const RogueLink link(publication, *catalog.find("frames"));
  link.wake.here.signal();
  changes.wait_until([&] { return changes.calls() >= 2; }, "the link and a wake");
  REQUIRE(send_message(link.socket.get(), make_message<WelcomeMessage>()));
  changes.wait_until([&] { return code_of(receive(subscriber)) == ErrorCode::kProtocolError; },
                     "the end of the link");
  other.pass_service_thread();
  const std::uint64_t before = changes.calls();
  link.wake.here.signal();
  other.pass_service_thread();
  CHECK(changes.calls() == before);
}

}  // namespace weftline::test
