// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "weftline/graph/doorbell.hpp"
#include "weftline/graph/notification_sender.hpp"

using namespace weftline;

namespace {

struct Wakes {
  std::shared_ptr<int> count{std::make_shared<int>(0)};
  [[nodiscard]] ReadinessWake wake() const {
    return {count, [](void* it) noexcept { ++*static_cast<int*>(it); }};
  }
};

}  // namespace

TEST_CASE("a notification beyond the capacity is refused, wakes nobody, and may be retried") {
  const Wakes wakes;
  const auto channel = std::make_shared<NotificationChannel>(2, 1, wakes.wake());
  REQUIRE(channel->add_sender().has_value());
  NotificationSender sender(channel);
  CHECK(sender.notify().has_value());
  CHECK(sender.notify().has_value());
  const auto refused = sender.notify();
  CHECK(refused.error().code == ErrorCode::kBackpressured);
  CHECK(refused.error().token == "SOURCE_NOTIFICATIONS_FULL");
  CHECK(*wakes.count == 2);
  CHECK(channel->pending());
  channel->take();
  CHECK(sender.notify().has_value());
  channel->take();
  channel->take();
  CHECK_FALSE(channel->pending());
}

TEST_CASE("no more senders exist than the source admits; a dropped one makes room") {
  const auto channel = std::make_shared<NotificationChannel>(1, 2, ReadinessWake{});
  REQUIRE(channel->add_sender().has_value());
  NotificationSender first(channel);
  {
    const auto second = first.copy();
    REQUIRE(second.has_value());
    CHECK(second->copy().error().token == "SOURCE_SENDERS_EXHAUSTED");
    CHECK(first.copy().error().code == ErrorCode::kResourceExhausted);
  }
  NotificationSender moved = std::move(first);
  CHECK(moved.copy().has_value());
}

TEST_CASE("handles outlive their source: they answer that it is closed") {
  const Wakes wakes;
  const auto channel = std::make_shared<NotificationChannel>(1, 1, wakes.wake());
  REQUIRE(channel->add_sender().has_value());
  NotificationSender sender(channel);
  const auto bell_channel = std::make_shared<DoorbellChannel>(wakes.wake());
  Doorbell bell(bell_channel);
  channel->close();
  bell_channel->close();
  CHECK(sender.notify().error().code == ErrorCode::kClosed);
  CHECK(bell.ring(1).error().token == "SOURCE_CLOSED");
  CHECK(*wakes.count == 0);
}

TEST_CASE("a doorbell's count only grows; what does not raise it wakes nobody") {
  const Wakes wakes;
  const auto channel = std::make_shared<DoorbellChannel>(wakes.wake());
  Doorbell bell(channel);
  Doorbell other = bell;
  CHECK(bell.ring(3).has_value());
  CHECK(other.ring(2).has_value());
  CHECK(channel->rung() == 3);
  CHECK(*wakes.count == 1);
  CHECK(other.ring(9).has_value());
  CHECK(channel->rung() == 9);
  CHECK(*wakes.count == 2);
}

TEST_CASE("notifications of many threads are counted exactly, up to the capacity") {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kEach = 2'000;
  const auto channel = std::make_shared<NotificationChannel>(65'536, kThreads, ReadinessWake{});
  std::vector<std::jthread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    REQUIRE(channel->add_sender().has_value());
    threads.emplace_back([sender = NotificationSender(channel)]() mutable {
      for (std::uint32_t i = 0; i < kEach; ++i) static_cast<void>(sender.notify());
    });
  }
  threads.clear();
  std::uint32_t taken = 0;
  for (; channel->pending(); ++taken) channel->take();
  CHECK(taken == kThreads * kEach);
}
