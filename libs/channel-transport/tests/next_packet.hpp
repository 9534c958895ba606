// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <string>

#include "seqpacket_socket.hpp"

namespace weftline::test {

using namespace weftline::channel;

/// Waits for one message; nothing when the peer has closed.
inline std::optional<Packet> next_packet(const UniqueFd& socket) {
  pollfd query{socket.get(), POLLIN, 0};
  if (::poll(&query, 1, 60'000) != 1) FAIL("the peer neither answered nor closed");
  Packet packet;
  if (receive_packet(socket.get(), packet) != PacketResult::kReceived) return std::nullopt;
  return packet;
}

inline std::string refusal_text(const UniqueFd& socket) {
  const auto packet = next_packet(socket);
  if (!packet) return "closed";
  const auto refusal = parse_message<RefusalMessage>(*packet);
  if (!refusal) return "another message";
  return std::string(refusal->text.data(), refusal->text_bytes);
}

}  // namespace weftline::test
