// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>

#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <optional>

#include "remote_peer.hpp"

namespace weftline::test {

using Catch::Matchers::ContainsSubstring;

TEST_CASE("frames cross to another process, whichever starts first") {
  const TemporaryDirectory directory;
  const auto catalog = remote_catalog();
  ChannelRuntime runtime = make_runtime(directory);
  RemotePeer peer(directory);
  const bool publisher_first = GENERATE(true, false);
  SECTION("this process publishes") {
    std::optional<ChannelPublisher<std::uint32_t>> publisher;
    if (publisher_first) publisher.emplace(make_publisher(runtime, catalog));
    CHECK(peer.ask("subscribe") == "ok");
    if (!publisher_first) publisher.emplace(make_publisher(runtime, catalog));
    await_subscriber(*publisher);
    REQUIRE(publisher->emit(41) == 1U);
    REQUIRE(publisher->emit(42) == 1U);
    CHECK(peer.ask("take") == "41");
    CHECK(peer.ask("receive") == "42");
    CHECK_THAT(peer.ask("receive"), ContainsSubstring("kNotReady"));
    REQUIRE(publisher->close().has_value());
    CHECK_THAT(peer.ask("take"), ContainsSubstring("kClosed"));
  }
  SECTION("this process subscribes") {
    std::optional<ChannelSubscriber<std::uint32_t>> subscriber;
    if (!publisher_first) subscriber.emplace(make_subscriber(runtime, catalog));
    CHECK(peer.ask("publish") == "ok");
    if (publisher_first) subscriber.emplace(make_subscriber(runtime, catalog));
    CHECK(peer.ask("await") == "ok");
    CHECK(peer.ask("emit 5") == "1");
    CHECK(subscriber->wait_and_receive_sample(watchdog())->data == 5U);
  }
}

TEST_CASE("data and end stay readable after the publisher's process has exited") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, remote_catalog());
  RemotePeer peer(directory);
  CHECK(peer.ask("publish") == "ok");
  CHECK(peer.ask("await") == "ok");
  CHECK(peer.ask("emit 1") == "1");
  CHECK(peer.ask("emit 2") == "1");
  CHECK(peer.ask("close") == "ok");
  CHECK(peer.end_with("exit") == 0);
  CHECK(directory.files().empty());
  CHECK(subscriber.receive_sample()->data == 1U);
  CHECK(subscriber.receive_sample()->data == 2U);
  CHECK(code_of(subscriber.receive_sample()) == ErrorCode::kClosed);
}

TEST_CASE("a killed subscriber is noticed, the publisher goes on, and the next one attaches") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(runtime, remote_catalog());
  changes.follow(publisher);
  auto peer = std::make_unique<RemotePeer>(directory);
  CHECK(peer->ask("subscribe") == "ok");
  await_subscriber(publisher);
  for (std::uint32_t n = 0; n < kDepth; ++n) REQUIRE(publish(publisher, n) == 1U);
  REQUIRE(code_of(publish(publisher, 9)) == ErrorCode::kBackpressured);
  peer->signal(SIGKILL);
  // The full link of a dead subscriber holds up nobody: the callback tells of its end.
  await_subscribers(publisher, changes, 0);
  CHECK(code_of(publish(publisher, 9)) == ErrorCode::kNotReady);
  CHECK(publisher.link_counters().lost == 1);

  peer = std::make_unique<RemotePeer>(directory);
  CHECK(peer->ask("subscribe") == "ok");
  await_subscribers(publisher, changes, 1);
  REQUIRE(publish(publisher, 10) == 1U);
  CHECK(peer->ask("take") == "10");
}

TEST_CASE("a killed publisher is silence until another incarnation comes") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlineSubscriber subscriber = make_inline_subscriber(runtime, remote_catalog());
  changes.follow(subscriber);
  RemotePeer peer(directory);
  CHECK(peer.ask("publish") == "ok");
  CHECK(peer.ask("await") == "ok");
  CHECK(peer.ask("emit 1") == "1");
  peer.signal(SIGKILL);
  changes.wait_until([&] { return !subscriber.has_publisher(); }, "the publisher's death");
  REQUIRE(directory.files().size() == 1);  // the record is all that is left
  CHECK(receive(subscriber) == 1U);
  CHECK(code_of(receive(subscriber)) == ErrorCode::kNotReady);
  subscriber.set_readable_callback({});
  CHECK(code_of(subscriber.wait(already())) == ErrorCode::kTimeout);

  SECTION("a publisher replaces the record") {
    auto next = make_publisher(runtime, remote_catalog());
    CHECK(code_of(subscriber.wait(watchdog())) == ErrorCode::kStaleEndpoint);
  }
  SECTION("a subscriber removes it") {
    auto next = make_subscriber(runtime, remote_catalog());
    CHECK(directory.files().empty());
  }
}

TEST_CASE("a stopped subscriber keeps its link and its back-pressure") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  Changes changes;
  InlinePublisher publisher = make_inline_publisher(runtime, remote_catalog());
  changes.follow(publisher);
  RemotePeer peer(directory);
  CHECK(peer.ask("subscribe") == "ok");
  await_subscriber(publisher);
  peer.stop();
  for (std::uint32_t n = 0; n < kDepth; ++n) REQUIRE(publish(publisher, n) == 1U);
  CHECK(code_of(publish(publisher, kDepth)) == ErrorCode::kBackpressured);
  CHECK(publisher.subscriber_count() == 1);
  peer.signal(SIGCONT);
  CHECK(peer.ask("take") == "0");
  changes.wait_until([&] { return publisher.has_room(); }, "room in the link");
  CHECK(publish(publisher, kDepth) == 1U);
}

TEST_CASE("the holder of an endpoint in another process is named with its state") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  RemotePeer peer(directory);
  CHECK(peer.ask("publish") == "ok");
  const auto refused = [&] {
    const auto second = runtime.create_publisher<std::uint32_t>(remote_catalog(), "frames");
    CHECK(code_of(second) == ErrorCode::kResourceExhausted);
    CHECK_THAT(second.error().message, ContainsSubstring(std::to_string(peer.pid())));
    return second.error().message;
  };
  CHECK_THAT(refused(), ContainsSubstring("running"));
  peer.stop();
  CHECK_THAT(refused(), ContainsSubstring("stopped"));
  peer.signal(SIGCONT);
  CHECK(peer.ask("destroy") == "ok");
  CHECK(runtime.create_publisher<std::uint32_t>(remote_catalog(), "frames").has_value());
}

TEST_CASE("a runtime destroyed before its endpoint names it and aborts") {
  const TemporaryDirectory directory;
  RemotePeer peer(directory);
  CHECK(peer.ask(GENERATE(as<std::string>{}, "publish", "subscribe")) == "ok");
  const int status = peer.end_with("leave_runtime_first");
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK_THAT(peer.error_output(), ContainsSubstring("endpoint 'frames'"));
}

}  // namespace weftline::test
