// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "rogue_subscriber.hpp"
#include "subscriber_ring.hpp"

namespace weftline::test {

namespace {

/// A subscriber that does each step of attaching when the test says so.
struct SlowSubscriber {
  explicit SlowSubscriber(const TemporaryDirectory& directory,
                          const ChannelEndpointCatalog& catalog)
      : endpoint(*catalog.find("frames")), socket(connect_to_publisher(directory)) {}

  void greet() const { REQUIRE(say_hello(socket, endpoint)); }
  void await_welcome() const {
    pollfd query{socket.get(), POLLIN, 0};
    REQUIRE(::poll(&query, 1, 60'000) == 1);
  }
  [[nodiscard]] SubscriberRing open_ring() const {
    auto packet = next_packet(socket);
    REQUIRE(packet.has_value());
    const auto welcome = parse_message<WelcomeMessage>(*packet);
    REQUIRE(welcome.has_value());
    auto ring = SubscriberRing::open(*ring_geometry(endpoint), BodyContract(endpoint.payload),
                                     welcome->incarnation, std::move(packet->descriptors));
    if (!ring) FAIL(ring.error().to_string());
    return std::move(*ring);
  }

  EndpointRecord endpoint;
  UniqueFd socket;
};

}  // namespace

TEST_CASE("a subscriber that attaches while the publisher closes gets the end of the stream") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  auto publisher = std::optional(make_inline_publisher(runtime, catalog));
  const SlowSubscriber subscriber(directory, catalog);
  SECTION("between welcome and attached") {
    subscriber.greet();
    subscriber.await_welcome();
    REQUIRE(publisher->close().has_value());
    publisher.reset();
    CHECK(subscriber.open_ring().look() == SubscriberRing::State::kEnded);
  }
  SECTION("between connecting and hello") {
    REQUIRE(publisher->close().has_value());
    subscriber.greet();
    subscriber.await_welcome();
    publisher.reset();
    CHECK(subscriber.open_ring().look() == SubscriberRing::State::kEnded);
  }
  SECTION("and it is attached before the publisher goes") {
    subscriber.greet();
    subscriber.await_welcome();
    changes.follow(*publisher);
    REQUIRE(publisher->close().has_value());
    REQUIRE(send_message(subscriber.socket.get(), make_message<AttachedMessage>()));
    await_subscribers(*publisher, changes, 1);
    CHECK(subscriber.open_ring().look() == SubscriberRing::State::kEnded);
  }
}

TEST_CASE("a publisher that goes without closing ends nobody's stream") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  auto publisher = std::optional(make_inline_publisher(runtime, catalog));
  const SlowSubscriber subscriber(directory, catalog);
  subscriber.greet();
  subscriber.await_welcome();
  publisher.reset();
  CHECK(subscriber.open_ring().look() == SubscriberRing::State::kEmpty);
}

}  // namespace weftline::test
