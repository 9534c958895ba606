// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>

#include "channel_fixture.hpp"

namespace weftline::test {

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t kScale = 1;
#else
constexpr std::uint32_t kScale = 10;
#endif

Big filled(std::uint64_t value) {
  Big big;
  for (auto& word : big.words) word = value;
  return big;
}

}  // namespace

TEST_CASE("no frame and no wake is lost between a parked publisher and a parked subscriber") {
  const TemporaryDirectory directory;
  EndpointOptions options = blocking();
  options.queue_depth = 2;
  const auto catalog = catalog_with<std::uint32_t>(options);
  ChannelRuntime publishing = make_runtime(directory);
  ChannelRuntime subscribing = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(publishing, catalog);
  changes.follow(publisher);
  auto subscriber = make_subscriber(subscribing, catalog);
  await_subscriber(publisher);
  const std::uint32_t frames = 5'000 * kScale;
  std::uint32_t received = 0;
  std::uint32_t wrong = 0;
  ErrorCode last = ErrorCode::kFailure;
  std::thread reader([&] {
    for (;;) {
      const auto sample = subscriber.wait_and_receive_sample(watchdog());
      if (!sample) {
        last = sample.error().code;
        return;
      }
      wrong += sample->data == received ? 0 : 1;
      ++received;
    }
  });
  for (std::uint32_t n = 0; n < frames; ++n) {
    changes.wait_until([&] { return publisher.has_room(); }, "room in the link");
    REQUIRE(publish(publisher, n).has_value());
  }
  REQUIRE(publisher.close().has_value());
  reader.join();
  CHECK(last == ErrorCode::kClosed);
  CHECK(received == frames);
  CHECK(wrong == 0);
}

TEST_CASE("a frame read while the ring is overwritten is whole or not read at all") {
  const TemporaryDirectory directory;
  EndpointOptions options = drop_oldest();
  options.queue_depth = 2;
  const auto catalog = catalog_with<Big>(options);
  ChannelRuntime runtime = make_runtime(directory);
  InlinePublisher publisher = make_inline_publisher(runtime, catalog);
  auto subscriber = make_subscriber<Big>(runtime, catalog);
  await_subscriber(publisher);
  std::uint64_t received = 0;
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
  ErrorCode last = ErrorCode::kFailure;
  std::thread reader([&] {
    std::uint64_t previous = 0;
    for (;;) {
      const auto sample = subscriber.wait_and_receive_sample(watchdog());
      if (!sample) {
        last = sample.error().code;
        return;
      }
      const std::uint64_t value = sample->data.words[0];
      for (const std::uint64_t word : sample->data.words) torn += word == value ? 0U : 1U;
      torn += sample->metadata.sequence == value ? 0U : 1U;
      backwards += value > previous ? 0U : 1U;
      previous = value;
      ++received;
    }
  });
  const std::uint64_t frames = std::uint64_t{5'000} * kScale;
  for (std::uint64_t n = 1; n <= frames; ++n) {
    const Big big = filled(n);
    SampleMetadata metadata;
    metadata.sequence = n;
    REQUIRE(publisher.publish(std::as_bytes(std::span(&big, 1)), metadata) == 1U);
  }
  REQUIRE(publisher.close().has_value());
  reader.join();
  CHECK(last == ErrorCode::kClosed);
  CHECK(torn == 0);
  CHECK(backwards == 0);
  CHECK(received + publisher.dropped() == frames);
}

TEST_CASE("a publisher is never refused because of subscribers that look for it") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime publishing = make_runtime(directory);
  std::atomic<bool> running{true};
  std::thread looking([&] {
    ChannelRuntime subscribing = *ChannelRuntime::create({directory.path()});
    while (running) {
      [[maybe_unused]] const auto passing = try_subscribe<std::uint32_t>(subscribing, catalog);
    }
  });
  std::string refusal;
  for (std::uint32_t round = 0; round < 200 * kScale && refusal.empty(); ++round) {
    const auto publisher = publishing.create_publisher<std::uint32_t>(catalog, "frames");
    if (!publisher) refusal = publisher.error().to_string();
  }
  running = false;
  looking.join();
  CHECK(refusal == "");
}

TEST_CASE("links come and go under a publisher that never pauses") {
  const TemporaryDirectory directory;
  EndpointOptions options = drop_oldest();
  options.max_subscribers = 3;
  options.peer = PeerRequirement::kOptional;
  const auto catalog = catalog_with<std::uint32_t>(options);
  ChannelRuntime publishing = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(publishing, catalog);
  changes.follow(publisher);
  std::atomic<int> running{2};
  std::atomic<std::uint32_t> failures{0};
  const auto come_and_go = [&] {
    ChannelRuntime runtime = *ChannelRuntime::create({directory.path()});
    for (std::uint32_t round = 0; round < 50 * kScale; ++round) {
      auto subscriber = try_subscribe<std::uint32_t>(runtime, catalog);
      if (!subscriber || !subscriber->wait_and_receive_sample(watchdog())) ++failures;
    }
    --running;
  };
  std::thread first(come_and_go);
  std::thread second(come_and_go);
  std::uint32_t n = 0;
  std::uint64_t dropped = 0;
  std::uint32_t backwards = 0;
  while (running > 0) {
    REQUIRE(publish(publisher, n++).has_value());
    const std::uint64_t now = publisher.dropped();
    backwards += now < dropped ? 1U : 0U;
    dropped = now;
  }
  first.join();
  second.join();
  CHECK(failures == 0);
  CHECK(backwards == 0);
  await_subscribers(publisher, changes, 0);
  CHECK(publisher.link_counters().left == std::uint64_t{100} * kScale);
}

}  // namespace weftline::test
