// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <thread>

#include "channel_fixture.hpp"

namespace weftline::test {

using Catch::Matchers::ContainsSubstring;

namespace {

ChannelEndpointCatalog other_deployment(const std::string& name = "frames") {
  auto builder = ChannelEndpointCatalog::builder("another-deployment");
  REQUIRE(builder.import_topic<std::uint32_t>(name, "weftline://x", blocking()).has_value());
  auto catalog = std::move(builder).build();
  REQUIRE(catalog.has_value());
  return *catalog;
}

Deadline soon() { return already() + std::chrono::milliseconds(1); }

template <class Result>
std::string timeout_text(const Result& result) {
  CHECK(code_of(result) == ErrorCode::kTimeout);
  return result.error().message;
}

}  // namespace

TEST_CASE("a wait without a peer names the publisher of another deployment") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  auto subscriber = make_subscriber(runtime, catalog);
  CHECK(timeout_text(subscriber.wait_and_receive_sample(soon())).empty());
  auto stranger = std::optional(make_publisher(runtime, other_deployment()));
  const auto explains = [](const auto& wait) {
    // A deadline that passes before the wait has begun makes it a mere question: asked again.
    std::string text;
    while (text.empty()) text = timeout_text(wait(soon()));
    CHECK_THAT(text, ContainsSubstring(std::to_string(::getpid())) &&
                         ContainsSubstring("'frames'") &&
                         ContainsSubstring("'another-deployment'") &&
                         ContainsSubstring("'test-deployment'"));
  };
  explains([&](Deadline end) { return subscriber.wait_and_receive_sample(end); });
  explains([&](Deadline end) { return subscriber.wait_for_sample(end); });
  explains([&](Deadline end) { return subscriber.wait_for_publisher(end); });
  CHECK(timeout_text(subscriber.wait_for_publisher(already())).empty());

  subscriber.close();
  auto publisher = make_publisher(runtime, catalog);
  explains([&](Deadline end) { return publisher.wait_for_subscriber(end); });
  auto next = make_subscriber(runtime, catalog);
  await_subscriber(publisher);
  CHECK(timeout_text(next.wait_for_sample(soon())).empty());  // it has its publisher
}

TEST_CASE("only a live publisher of the very name is named as a stranger") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  auto subscriber = make_subscriber(runtime, catalog_with<std::uint32_t>(blocking()));
  SECTION("another name") {
    auto stranger = make_publisher(runtime, other_deployment("frames2"), "frames2");
    CHECK(timeout_text(subscriber.wait_for_publisher(soon())).empty());
  }
  SECTION("a dead record") {
    std::ofstream(directory.path() / "frames.0123456789abcdef.pub") << "{}";
    CHECK(timeout_text(subscriber.wait_for_publisher(soon())).empty());
  }
}

TEST_CASE("wait_for_publisher ends with a publisher, its failure or a stop") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  const auto catalog = catalog_with<std::uint32_t>(blocking());
  auto subscriber = make_subscriber(runtime, catalog);
  SECTION("a publisher") {
    expected<void, Error> outcome{};
    std::thread waiter([&] { outcome = subscriber.wait_for_publisher(watchdog()); });
    auto publisher = make_publisher(runtime, catalog);
    waiter.join();
    CHECK(outcome.has_value());
    CHECK(subscriber.has_publishers());
    CHECK(subscriber.wait_for_publisher(already()).has_value());
  }
  SECTION("a publisher of another contract") {
    auto publisher =
        make_publisher<std::uint64_t>(runtime, catalog_with<std::uint64_t>(blocking()));
    CHECK(code_of(subscriber.wait_for_publisher(watchdog())) == ErrorCode::kIncompatible);
  }
  SECTION("a stop") {
    std::stop_source source;
    source.request_stop();
    CHECK(code_of(subscriber.wait_for_publisher(watchdog(), source.get_token())) ==
          ErrorCode::kInterrupted);
  }
}

TEST_CASE("a wait without a deadline takes the attach timeout, which a caller may shorten") {
  const TemporaryDirectory directory;
  ChannelRuntime runtime = make_runtime(directory);
  using std::chrono::nanoseconds;
  EndpointOptions options = blocking();
  // Longer than the watchdog of the whole program: whoever waits for this does not come back.
  options.attach_timeout_ns = 3'600'000'000'000;
  const auto patient = catalog_with<std::uint32_t>(options);
  auto publisher = runtime.create_publisher<std::uint32_t>(patient, "frames", {nanoseconds(0)});
  REQUIRE(publisher.has_value());
  CHECK(code_of(publisher->wait_for_subscriber()) == ErrorCode::kTimeout);
  {
    auto subscriber =
        runtime.create_inline_subscriber(patient, "frames", EndpointSide::kGraph,
                                         payload_identity<std::uint32_t>(), {nanoseconds(0)});
    REQUIRE(subscriber.has_value());
    await_subscriber(*publisher);
    CHECK(publisher->wait_for_subscriber().has_value());
    CHECK(subscriber->wait_for_publisher().has_value());
  }
  auto other = runtime.create_inline_subscriber(
      catalog_with<std::uint32_t>(options, "others"), "others", EndpointSide::kGraph,
      payload_identity<std::uint32_t>(), {nanoseconds(1'000)});
  REQUIRE(other.has_value());
  CHECK(code_of(other->wait_for_publisher()) == ErrorCode::kTimeout);
  auto unchanged =
      make_inline_subscriber(runtime, catalog_with<std::uint32_t>(blocking(), "third"), "third");
  CHECK(code_of(unchanged.wait_for_publisher()) == ErrorCode::kTimeout);  // the catalog says 0
}

}  // namespace weftline::test
