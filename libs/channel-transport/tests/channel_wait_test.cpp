// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "channel_fixture.hpp"

namespace weftline::test {

TEST_CASE("a wait ends with a frame, a timeout, an interruption, an end or a replacement") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);

  // Without a publisher: the deadline and the token are the only ends.
  CHECK(code_of(subscriber.wait_and_receive_sample(already())) == ErrorCode::kTimeout);
  CHECK(code_of(subscriber.wait_for_sample(already() + std::chrono::milliseconds(1))) ==
        ErrorCode::kTimeout);
  std::stop_source stopped;
  stopped.request_stop();
  CHECK(code_of(subscriber.wait_and_receive_sample(watchdog(), stopped.get_token())) ==
        ErrorCode::kInterrupted);
  CHECK(code_of(subscriber.wait_for_sample(Deadline::max(), stopped.get_token())) ==
        ErrorCode::kInterrupted);

  auto publisher = std::optional(make_publisher(runtime, catalog));
  await_subscriber(*publisher);
  REQUIRE(publisher->emit(1) == 1U);
  // A frame that is there comes before a deadline that has passed and before a stop.
  CHECK(subscriber.wait_for_sample(already(), stopped.get_token()).has_value());
  CHECK(subscriber.wait_and_receive_sample(already(), stopped.get_token())->data == 1U);
  CHECK(code_of(subscriber.wait_for_sample(already())) == ErrorCode::kTimeout);

  SECTION("the end of the stream") {
    REQUIRE(publisher->close().has_value());
    CHECK(code_of(subscriber.wait_for_sample(watchdog())) == ErrorCode::kClosed);
    CHECK(code_of(subscriber.wait_and_receive_sample(watchdog())) == ErrorCode::kClosed);
  }
  SECTION("a replacement") {
    publisher.reset();
    publisher.emplace(make_publisher(runtime, catalog));
    CHECK(code_of(subscriber.wait_for_sample(watchdog())) == ErrorCode::kStaleEndpoint);
    CHECK(code_of(subscriber.wait_and_receive_sample(watchdog())) == ErrorCode::kStaleEndpoint);
  }
}

TEST_CASE("a second waiter is refused and the first goes on") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);
  expected<Sample<std::uint32_t>, Error> first{};
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    // The probe below is a waiter too: for its moment this one may be the second.
    do {
      first = subscriber.wait_and_receive_sample(watchdog());
    } while (!first && first.error().token == "CHANNEL_SECOND_WAITER");
    done = true;
  });
  // A wait without time answers kTimeout until the thread's wait has begun.
  ErrorCode second = ErrorCode::kTimeout;
  while (second == ErrorCode::kTimeout && !done) {
    second = code_of(subscriber.wait_for_sample(already()));
    std::this_thread::yield();
  }
  CHECK(second == ErrorCode::kInvalidArgument);
  auto publisher = make_publisher(runtime, catalog);
  await_subscriber(publisher);
  REQUIRE(publisher.emit(8) == 1U);
  waiter.join();
  REQUIRE(first.has_value());
  CHECK(first->data == 8U);
}

TEST_CASE("a wait that begins before there is a publisher ends with its first frame") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime publishing = make_runtime(directory);
  ChannelRuntime subscribing = make_runtime(directory);
  auto subscriber = make_subscriber(subscribing, catalog);
  std::vector<std::uint32_t> got;
  ErrorCode last = ErrorCode::kFailure;
  std::thread waiter([&] {
    for (;;) {
      const auto sample = subscriber.wait_and_receive_sample(watchdog());
      if (!sample) {
        last = sample.error().code;
        return;
      }
      got.push_back(sample->data);
    }
  });
  {
    // Comes and goes without a frame: that wakes the waiter, and is not for its caller.
    auto passing =
        make_publisher(publishing, catalog_with<std::uint32_t>(blocking(), "other"), "other");
  }
  auto publisher = make_publisher(publishing, catalog);
  await_subscriber(publisher);
  constexpr std::uint32_t kFrames = 1000;
  for (std::uint32_t n = 0; n < kFrames;) {
    const auto sent = publisher.emit(n);
    if (sent)
      ++n;
    else
      REQUIRE(sent.error().code == ErrorCode::kBackpressured);
  }
  REQUIRE(publisher.close().has_value());
  waiter.join();
  CHECK(got.size() == kFrames);
  CHECK(std::is_sorted(got.begin(), got.end()));
  CHECK(last == ErrorCode::kClosed);
}

TEST_CASE("a stop from another thread ends a wait, and the subscriber stays usable") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog);
  auto publisher = make_publisher(runtime, catalog);
  await_subscriber(publisher);
  for (int round = 0; round < 50; ++round) {
    std::stop_source source;
    std::thread stopper([&] { source.request_stop(); });
    CHECK(code_of(subscriber.wait_and_receive_sample(watchdog(), source.get_token())) ==
          ErrorCode::kInterrupted);
    stopper.join();
  }
  REQUIRE(publisher.emit(4) == 1U);
  CHECK(subscriber.wait_and_receive_sample(watchdog())->data == 4U);
}

TEST_CASE("wait_for_subscriber returns when one attaches") {
  const TemporaryDirectory directory;
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  ChannelRuntime publishing = make_runtime(directory);
  ChannelRuntime subscribing = make_runtime(directory);
  auto publisher = make_publisher(publishing, catalog);
  expected<void, Error> outcome{};
  std::thread waiter([&] { outcome = publisher.wait_for_subscriber(watchdog()); });
  auto subscriber = make_subscriber(subscribing, catalog);
  waiter.join();
  CHECK(outcome.has_value());
  CHECK(publisher.subscriber_count() == 1);
}

}  // namespace weftline::test
