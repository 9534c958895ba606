// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_template_test_macros.hpp>
#include <numeric>

#include "channel_fixture.hpp"

namespace weftline::test {

namespace {

template <class T>
T example(std::uint32_t n) {
  if constexpr (std::is_same_v<T, Pose>) {
    return Pose{{1.0 * n, 2.0 * n, 3.0 * n}, n, n + 1};
  } else {
    return static_cast<T>(n);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a value and its metadata arrive, whichever side starts first", "",
                   std::uint32_t, std::uint8_t, double, Pose) {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<TestType>(blocking());
  ChannelRuntime publishing = make_runtime(directory);
  ChannelRuntime subscribing = make_runtime(directory);
  const bool publisher_first = GENERATE(true, false);
  std::optional<ChannelSubscriber<TestType>> subscriber;
  if (!publisher_first) subscriber.emplace(make_subscriber<TestType>(subscribing, catalog));
  auto publisher = make_publisher<TestType>(publishing, catalog);
  if (publisher_first) subscriber.emplace(make_subscriber<TestType>(subscribing, catalog));
  await_subscriber(publisher);
  CHECK(publisher.has_subscribers());

  EmitOptions options;
  options.frame_id = 99;
  options.trace = {7, 8, 9};
  options.flags = SampleFlags::kDegraded;
  CHECK(publisher.emit_captured(example<TestType>(1), 12'345, options) == 1U);
  CHECK(publisher.emit(example<TestType>(2)) == 1U);

  const auto first = subscriber->wait_and_receive_sample(watchdog());
  REQUIRE(first.has_value());
  CHECK(first->data == example<TestType>(1));
  CHECK(first->metadata.capture_time() == TimePoint{12'345, ClockId{0}});
  CHECK(first->metadata.frame_id == 99U);
  CHECK(first->metadata.trace == TraceContext{7, 8, 9});
  CHECK(first->metadata.degraded());
  CHECK(first->metadata.valid());
  CHECK(first->metadata.sequence == 0);
  CHECK(first->metadata.byte_size == sizeof(TestType));
  CHECK(first->metadata.publish_time.timestamp_ns > 0);

  const auto second = subscriber->wait_and_receive_sample(watchdog());
  REQUIRE(second.has_value());
  CHECK(second->data == example<TestType>(2));
  CHECK_FALSE(second->metadata.capture_time().has_value());
  CHECK_FALSE(second->metadata.frame_id.has_value());
  CHECK(second->metadata.sequence == 1);
  CHECK(code_of(subscriber->receive_sample()) == ErrorCode::kNotReady);
}

TEST_CASE("a body of 32,744 bytes fits, and passes unchanged") {
  const TemporaryDirectory directory;
  EndpointRecord record = largest_endpoint();
  record.queue_policy = GENERATE(ChannelQueuePolicy::kBlocking, ChannelQueuePolicy::kDropOldest);
  const auto catalog = catalog_of(record);
  ChannelRuntime runtime = make_runtime(directory);
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  await_subscriber(publisher);

  std::vector<std::uint8_t> sent(kMaximumInlineBodyBytes);
  std::iota(sent.begin(), sent.end(), std::uint8_t{1});
  REQUIRE(publisher.publish(std::as_bytes(std::span(sent)), {}) == 1U);
  std::vector<std::uint8_t> got(sent.size());
  SampleMetadata metadata;
  REQUIRE(subscriber.receive(std::as_writable_bytes(std::span(got)), metadata).has_value());
  CHECK(got == sent);
}

TEST_CASE("without a subscriber a required peer is not ready and an optional one counts zero") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  EndpointOptions options = blocking();
  SECTION("required") {
    auto publisher = make_publisher(runtime, catalog_with<std::uint32_t>(options));
    const auto outcome = publisher.emit(1);
    CHECK(code_of(outcome) == ErrorCode::kNotReady);
    CHECK(outcome.error().token == "CHANNEL_NO_SUBSCRIBER");
    CHECK(outcome.error().message.empty());
    CHECK(code_of(publisher.wait_for_subscriber(already())) == ErrorCode::kTimeout);
  }
  SECTION("optional") {
    options.peer = PeerRequirement::kOptional;
    auto publisher = make_publisher(runtime, catalog_with<std::uint32_t>(options));
    CHECK(publisher.emit(1) == 0U);
  }
}

TEST_CASE("each attached subscriber gets every frame, and the count is exact") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  changes.follow(publisher);
  InlineSubscriber first = make_inline_subscriber(runtime, catalog);
  InlineSubscriber second = make_inline_subscriber(runtime, catalog);
  await_subscribers(publisher, changes, 2);
  CHECK(publish(publisher, 1) == 2U);
  {
    InlineSubscriber third = make_inline_subscriber(runtime, catalog);
    await_subscribers(publisher, changes, 3);
    CHECK(publish(publisher, 2) == 3U);
    CHECK(receive(third) == 2U);
  }
  await_subscribers(publisher, changes, 2);
  CHECK(publish(publisher, 3) == 2U);
  for (const std::uint32_t value : {1U, 2U, 3U}) {
    CHECK(receive(first) == value);
    CHECK(receive(second) == value);
  }
  CHECK(publisher.link_counters().attached == 3);
  CHECK(publisher.link_counters().left == 1);
}

TEST_CASE("a blocking link takes exactly its depth, and space wakes the publisher") {
  const TemporaryDirectory directory;
  EndpointOptions options = blocking();
  options.queue_depth = GENERATE(1U, 3U, 4U, 7U);
  const auto catalog = catalog_with<std::uint32_t>(options);
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  changes.follow(publisher);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  await_subscriber(publisher);
  std::uint32_t next = 0;
  std::uint32_t expected_next = 0;
  for (int round = 0; round < 5; ++round) {
    while (next - expected_next < options.queue_depth) REQUIRE(publish(publisher, next++) == 1U);
    const auto refused = publish(publisher, next);
    REQUIRE(code_of(refused) == ErrorCode::kBackpressured);
    CHECK(refused.error().message.empty());
    REQUIRE_FALSE(publisher.has_room());
    REQUIRE(receive(subscriber) == expected_next++);
    changes.wait_until([&] { return publisher.has_room(); }, "room in the link");
  }
  while (expected_next < next) REQUIRE(receive(subscriber) == expected_next++);
  CHECK(publisher.dropped() == 0);
}

TEST_CASE("one full link refuses the frame for all") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  changes.follow(publisher);
  InlineSubscriber fast = make_inline_subscriber(runtime, catalog);
  InlineSubscriber slow = make_inline_subscriber(runtime, catalog);
  await_subscribers(publisher, changes, 2);
  for (std::uint32_t n = 0; n < kDepth; ++n) {
    REQUIRE(publish(publisher, n) == 2U);
    REQUIRE(receive(fast) == n);
  }
  CHECK(code_of(publish(publisher, 77)) == ErrorCode::kBackpressured);
  CHECK(code_of(receive(fast)) == ErrorCode::kNotReady);
  // The slow one leaves: its link does not hold up the other any more.
  REQUIRE(slow.close().has_value());
  changes.wait_until([&] { return publisher.has_room(); }, "room without the slow subscriber");
  CHECK(publish(publisher, 78) == 1U);
  CHECK(receive(fast) == 78U);
}

TEST_CASE("drop-oldest keeps the newest frames and counts the others") {
  const TemporaryDirectory directory;
  EndpointOptions options = drop_oldest();
  options.queue_depth = GENERATE(1U, 3U, 4U);
  const auto catalog = catalog_with<std::uint32_t>(options);
  ChannelRuntime runtime = make_runtime(directory);
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  await_subscriber(publisher);
  constexpr std::uint32_t kFrames = 20;
  for (std::uint32_t n = 0; n < kFrames; ++n) {
    CHECK(publisher.has_room());
    REQUIRE(publish(publisher, n) == 1U);
  }
  CHECK(publisher.dropped() == kFrames - options.queue_depth);
  for (std::uint32_t n = kFrames - options.queue_depth; n < kFrames; ++n) {
    CHECK(receive(subscriber) == n);
  }
  CHECK(code_of(receive(subscriber)) == ErrorCode::kNotReady);
  CHECK(publisher.dropped() == kFrames - options.queue_depth);
  REQUIRE(publish(publisher, 100) == 1U);
  CHECK(receive(subscriber) == 100U);
  CHECK(publisher.dropped() == kFrames - options.queue_depth);
}

TEST_CASE("the end of the stream follows the data and stays") {
  const TemporaryDirectory directory;
  const bool lossy = GENERATE(false, true);
  const auto catalog = catalog_with<std::uint32_t>(lossy ? drop_oldest() : blocking());
  ChannelRuntime runtime = make_runtime(directory);
  auto publisher = make_publisher(runtime, catalog);
  auto subscriber = make_subscriber(runtime, catalog);
  await_subscriber(publisher);
  for (std::uint32_t n = 0; n < kDepth; ++n) REQUIRE(publisher.emit(n) == 1U);
  REQUIRE(publisher.close().has_value());
  CHECK(code_of(publisher.close()) == ErrorCode::kClosed);
  CHECK(code_of(publisher.emit(9)) == ErrorCode::kClosed);
  CHECK(code_of(publisher.wait_for_subscriber(watchdog())) == ErrorCode::kClosed);
  for (std::uint32_t n = 0; n < kDepth; ++n) CHECK(subscriber.receive_sample()->data == n);
  CHECK(code_of(subscriber.receive_sample()) == ErrorCode::kClosed);

  // Neither a next publisher nor time changes it.
  auto next = make_publisher(runtime, catalog);
  CHECK(code_of(subscriber.wait_and_receive_sample(watchdog())) == ErrorCode::kClosed);
  CHECK(code_of(subscriber.wait_for_sample(watchdog())) == ErrorCode::kClosed);
}

TEST_CASE("a publisher destroyed without close is silence, and its frames stay readable") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime publishing = make_runtime(directory);
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  changes.follow(subscriber);
  {
    InlinePublisher publisher = make_inline_publisher(publishing, catalog);
    await_subscriber(publisher);
    REQUIRE(publish(publisher, 5) == 1U);
    REQUIRE(publish(publisher, 6) == 1U);
  }
  changes.wait_until([&] { return !subscriber.has_publisher(); }, "the publisher's end");
  CHECK(receive(subscriber) == 5U);

  InlinePublisher next = make_inline_publisher(publishing, catalog);
  CHECK(receive(subscriber) == 6U);  // what was accepted comes before the news
  changes.wait_until([&] { return code_of(receive(subscriber)) != ErrorCode::kNotReady; },
                     "the new incarnation");
  CHECK(code_of(receive(subscriber)) == ErrorCode::kStaleEndpoint);

  InlineSubscriber rebuilt = make_inline_subscriber(runtime, catalog);
  await_subscriber(next);
  REQUIRE(publish(next, 7) == 1U);
  CHECK(receive(rebuilt) == 7U);
}

TEST_CASE("a subscriber's close is local and final") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  changes.follow(publisher);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  await_subscriber(publisher);
  REQUIRE(publish(publisher, 1) == 1U);
  REQUIRE(subscriber.close().has_value());
  CHECK(code_of(subscriber.close()) == ErrorCode::kClosed);
  CHECK(code_of(receive(subscriber)) == ErrorCode::kClosed);
  CHECK(code_of(subscriber.wait(watchdog())) == ErrorCode::kClosed);
  CHECK_FALSE(subscriber.has_publisher());
  await_subscribers(publisher, changes, 0);
  CHECK(code_of(publish(publisher, 2)) == ErrorCode::kNotReady);
}

TEST_CASE("a moved-from endpoint is closed") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  const InlinePublisher moved_publisher = std::move(publisher);
  const InlineSubscriber moved_subscriber = std::move(subscriber);
  CHECK(code_of(publish(publisher, 1)) == ErrorCode::kClosed);
  CHECK(code_of(publisher.close()) == ErrorCode::kClosed);
  CHECK(publisher.subscriber_count() == 0);
  CHECK(publisher.dropped() == 0);
  CHECK(code_of(receive(subscriber)) == ErrorCode::kClosed);
  CHECK(code_of(subscriber.close()) == ErrorCode::kClosed);
  CHECK_FALSE(subscriber.has_publisher());
}

TEST_CASE("a moved-from runtime makes no endpoints") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  const ChannelRuntime moved = std::move(runtime);
  CHECK(code_of(runtime.create_publisher<std::uint32_t>(catalog, "frames")) == ErrorCode::kClosed);
  CHECK(code_of(try_subscribe<std::uint32_t>(runtime, catalog)) == ErrorCode::kClosed);
}

TEST_CASE("a body of the wrong size is refused on both sides") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  await_subscriber(publisher);
  std::array<std::byte, 5> wrong{};
  SampleMetadata metadata;
  CHECK(code_of(publisher.publish(wrong, {})) == ErrorCode::kInvalidArgument);
  CHECK(code_of(publisher.publish({}, {})) == ErrorCode::kInvalidArgument);
  CHECK(code_of(subscriber.receive(wrong, metadata)) == ErrorCode::kInvalidArgument);
  REQUIRE(publish(publisher, 3) == 1U);
  CHECK(receive(subscriber) == 3U);
}

TEST_CASE("subscribers beyond the maximum are refused, and a place that is given up is free") {
  const TemporaryDirectory directory;
  EndpointOptions options = blocking();
  options.max_subscribers = 1;
  const auto catalog = catalog_with<std::uint32_t>(options);
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  changes.follow(publisher);
  auto first = make_subscriber(runtime, catalog);
  await_subscriber(publisher);
  auto second = make_subscriber(runtime, catalog);
  const auto refused = second.wait_and_receive_sample(watchdog());
  CHECK(code_of(refused) == ErrorCode::kResourceExhausted);
  CHECK(refused.error().token == "CHANNEL_SUBSCRIBERS_FULL");
  CHECK(refused.error().message.find("max_subscribers") != std::string::npos);
  for (int round = 0; round < 10; ++round) {
    // At once, with no waiting for the publisher to have noticed the end.
    REQUIRE(first.close().has_value());
    first = make_subscriber(runtime, catalog);
    CHECK(code_of(first.wait_for_sample(already())) == ErrorCode::kTimeout);
    changes.wait_until(
        [&] { return publisher.link_counters().attached == static_cast<std::uint64_t>(round) + 2; },
        "the next subscriber");
  }
  CHECK(publisher.subscriber_count() == 1);
}

TEST_CASE("nothing is left in the runtime folder after a clean end") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  {
    ChannelRuntime runtime = make_runtime(directory);
    auto subscriber = make_subscriber(runtime, catalog);
    CHECK(directory.files().empty());  // subscribers leave no record
    auto publisher = make_publisher(runtime, catalog);
    CHECK(directory.files().size() == 1);
    REQUIRE(publisher.close().has_value());
    CHECK(directory.files().empty());
    auto next = make_publisher(runtime, catalog);
    CHECK(directory.files().size() == 1);
  }
  CHECK(directory.files().empty());
}

TEST_CASE("endpoints of another name or deployment do not meet") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  auto builder = ChannelEndpointCatalog::builder("another-deployment");
  REQUIRE(
      builder.import_topic<std::uint32_t>("frames", "weftline://frames", blocking()).has_value());
  const auto other_deployment = std::move(builder).build();
  REQUIRE(other_deployment.has_value());
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  auto publisher = make_publisher(runtime, catalog);
  auto stranger = make_publisher(runtime, *other_deployment);
  auto namesake =
      make_publisher(runtime, catalog_with<std::uint32_t>(blocking(), "frames2"), "frames2");
  auto subscriber = make_subscriber(runtime, catalog);
  await_subscriber(publisher);
  CHECK(stranger.subscriber_count() == 0);
  CHECK(namesake.subscriber_count() == 0);
}

TEST_CASE("a callback tells a subscriber of data, ends and other publishers") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlineSubscriber subscriber = make_inline_subscriber(runtime, catalog);
  changes.follow(subscriber);
  CHECK(code_of(subscriber.wait(watchdog())) == ErrorCode::kInvalidArgument);
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  await_subscriber(publisher);
  for (std::uint32_t n = 0; n < 100; ++n) {
    CHECK(code_of(receive(subscriber)) == ErrorCode::kNotReady);
    REQUIRE(publish(publisher, n) == 1U);
    expected<std::uint32_t, Error> got;
    changes.wait_until([&] { return (got = receive(subscriber)).has_value(); }, "a frame");
    CHECK(got == n);
  }
  CHECK(code_of(receive(subscriber)) == ErrorCode::kNotReady);
  REQUIRE(publisher.close().has_value());
  changes.wait_until([&] { return code_of(receive(subscriber)) == ErrorCode::kClosed; },
                     "the end of the stream");
}

}  // namespace weftline::test
