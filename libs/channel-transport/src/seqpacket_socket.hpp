// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "unique_fd.hpp"
#include "weftline/core/error.hpp"
#include "wire_format.hpp"

namespace weftline::channel {

// SOCK_SEQPACKET sockets in the abstract namespace: no file to be left behind, and no limit of 108
// bytes on the folder's path. Anybody may connect to one, so each accepted socket is checked with
// identify_peer(). All are non-blocking.

/// So many connections wait to be accepted; further ones find it full.
inline constexpr int kListenBacklog = 128;
[[nodiscard]] expected<UniqueFd, Error> listen_for(const Incarnation& incarnation);
[[nodiscard]] UniqueFd new_socket() noexcept;
/// kNotFound: nobody listens there any more. kResourceExhausted: not now (too many wait there).
[[nodiscard]] expected<void, Error> connect_socket(const UniqueFd& socket,
                                                   const Incarnation& incarnation);
/// Both in one; kResourceExhausted too when no descriptor is left.
[[nodiscard]] expected<UniqueFd, Error> connect_to(const Incarnation& incarnation);
/// An empty descriptor and 0 when nobody waits, else the system's error.
struct Accepted {
  UniqueFd socket{};
  int error_number{0};
};
[[nodiscard]] Accepted accept_from(int listener) noexcept;

/// One received message, not yet believed.
struct Packet {
  std::array<std::byte, kMaximumMessageBytes> bytes{};
  std::size_t size{0};
  std::array<UniqueFd, kMaximumDescriptors> descriptors{};
  std::size_t descriptor_count{0};
};

enum class PacketResult : std::uint8_t {
  kReceived = 0,
  kNothing,    ///< None is waiting.
  kEnd,        ///< The peer closed its end.
  kMalformed,  ///< Longer than any message, or too many descriptors.
};
[[nodiscard]] PacketResult receive_packet(int socket, Packet& packet) noexcept;

/// The header, when the packet is long enough for one and has our magic.
[[nodiscard]] std::optional<MessageHeader> peek_header(const Packet& packet) noexcept;

/// The packet as one type of message: exact type, version, size and number of descriptors.
template <class Message>
[[nodiscard]] std::optional<Message> parse_message(const Packet& packet) noexcept {
  const auto header = peek_header(packet);
  if (!header || header->version != kWireVersion || packet.size != sizeof(Message) ||
      header->type != static_cast<std::uint32_t>(Message::kType) ||
      packet.descriptor_count != Message::kDescriptors) {
    return std::nullopt;
  }
  Message message{};
  std::memcpy(&message, packet.bytes.data(), sizeof(message));
  return message;
}

/// False when the peer does not take it (gone, or its queue is full): the link is lost then.
[[nodiscard]] bool send_bytes(int socket, std::span<const std::byte> bytes,
                              std::span<const int> descriptors) noexcept;

template <class Message>
[[nodiscard]] bool send_message(int socket, const Message& message,
                                std::span<const int> descriptors = {}) noexcept {
  return send_bytes(socket, std::as_bytes(std::span(&message, 1)), descriptors);
}

/// Tells a peer that we leave; best effort.
void send_goodbye(int socket, GoodbyeReason reason) noexcept;

}  // namespace weftline::channel
