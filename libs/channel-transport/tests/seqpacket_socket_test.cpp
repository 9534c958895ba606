// SPDX-License-Identifier: Apache-2.0
#include "seqpacket_socket.hpp"

#include <sys/socket.h>

#include <catch2/catch_test_macros.hpp>

namespace weftline::channel {

TEST_CASE("what a peer said before it closed is read, even if it did not read us") {
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
  const UniqueFd here{pair[0]};
  UniqueFd there{pair[1]};
  REQUIRE(send_message(here.get(), make_message<AttachedMessage>()));
  send_goodbye(there.get(), GoodbyeReason::kLeaving);
  there.reset();
  Packet packet;
  REQUIRE(receive_packet(here.get(), packet) == PacketResult::kReceived);
  CHECK(parse_message<GoodbyeMessage>(packet).has_value());
  CHECK(receive_packet(here.get(), packet) == PacketResult::kEnd);
}

}  // namespace weftline::channel
