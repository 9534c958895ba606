// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>

#include <thread>

#include "rogue_subscriber.hpp"
#include "wake_event.hpp"

namespace weftline::test {

TEST_CASE("no peer makes a publish wait, however it treats its end of the wake") {
  Publishing publishing(drop_oldest());
  RogueSubscriber rogue(publishing);
  await_subscribers(publishing.publisher, publishing.changes, 2);
  // The flags of a file are common to all who hold it, and its queue or counter is too.
  const int flags = ::fcntl(rogue.wake.get(), F_GETFL);
  REQUIRE(::fcntl(rogue.wake.get(), F_SETFL, flags & ~O_NONBLOCK) == 0);
  rogue.page().wish.data_wanted = 1;
  const WakeEvent done = *WakeEvent::create();
  std::uint32_t published = 0;
  std::thread publishes([&] {
    constexpr std::uint32_t kMoreThanAnyQueue = 5'000;
    while (published < kMoreThanAnyQueue && publish(publishing.publisher, published) == 2U) {
      ++published;
    }
    done.signal();
  });
  pollfd query{done.fd(), POLLIN, 0};
  const bool returned = ::poll(&query, 1, 60'000) == 1;
  rogue.wake.reset();  // would let a send that waits go on
  publishes.join();
  CHECK(returned);
  CHECK(published == 5'000);
}

TEST_CASE("a peer that wakes without end or reason does not keep the service thread") {
  Publishing publishing(drop_oldest());
  RogueSubscriber rogue(publishing);
  await_subscribers(publishing.publisher, publishing.changes, 2);
  const char token = 1;
  for (int round = 0; round < 3; ++round) {
    std::size_t sent = 0;
    while (::send(rogue.wake.get(), &token, sent % 2, MSG_DONTWAIT) >= 0 && sent < 10'000) ++sent;
    CHECK(sent > 0);
    publishing.check_alive();
  }
}

}  // namespace weftline::test
