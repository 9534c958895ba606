// SPDX-License-Identifier: Apache-2.0
#include "seqpacket_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "system_failure.hpp"
#include "weftline/core/digest.hpp"

namespace weftline::channel {

namespace {

struct SocketName {
  sockaddr_un address{};
  socklen_t size{0};
};

SocketName socket_name(const Incarnation& incarnation) {
  const std::string text = "weftline/" + to_hex(incarnation);
  SocketName name;
  name.address.sun_family = AF_UNIX;
  std::ranges::copy(text, name.address.sun_path + 1);  // a leading zero: the abstract namespace
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

const sockaddr* plain(const SocketName& name) noexcept {
  return reinterpret_cast<const sockaddr*>(&name.address);
}

}  // namespace

expected<UniqueFd, Error> listen_for(const Incarnation& incarnation) {
  const SocketName name = socket_name(incarnation);
  UniqueFd socket = new_socket();
  if (!socket.valid() || ::bind(socket.get(), plain(name), name.size) != 0 ||
      ::listen(socket.get(), kListenBacklog) != 0) {
    return system_failure("CHANNEL_SOCKET", "cannot listen for subscribers", errno);
  }
  return socket;
}

UniqueFd new_socket() noexcept {
  return UniqueFd{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
}

expected<void, Error> connect_socket(const UniqueFd& socket, const Incarnation& incarnation) {
  const SocketName name = socket_name(incarnation);
  if (::connect(socket.get(), plain(name), name.size) == 0) return {};
  if (errno == ECONNREFUSED) {
    return fail(ErrorCode::kNotFound, "CHANNEL_SOCKET", "the publisher does not listen any more");
  }
  return system_failure("CHANNEL_SOCKET", "cannot connect to the publisher", errno);
}

expected<UniqueFd, Error> connect_to(const Incarnation& incarnation) {
  UniqueFd socket = new_socket();
  if (!socket.valid()) {
    return system_failure("CHANNEL_SOCKET", "cannot create a socket", errno, kOpenFilesHint);
  }
  WEFTLINE_TRY(connect_socket(socket, incarnation));
  return socket;
}

Accepted accept_from(int listener) noexcept {
  for (;;) {
    UniqueFd socket{::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (socket.valid()) return {std::move(socket), 0};
    if (errno == EINTR || errno == ECONNABORTED) continue;
    return {{}, errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno};
  }
}

PacketResult receive_packet(int socket, Packet& packet) noexcept {
  packet = Packet{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaximumDescriptors * sizeof(int))> control{};
  iovec data{packet.bytes.data(), packet.bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    // A reset is told once, before what the peer said last: it closed without reading all of ours.
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0) {
    return errno == EAGAIN || errno == EWOULDBLOCK ? PacketResult::kNothing : PacketResult::kEnd;
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      UniqueFd owned{fd};
      if (packet.descriptor_count < packet.descriptors.size()) {
        packet.descriptors[packet.descriptor_count++] = std::move(owned);
      }
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return PacketResult::kMalformed;
  if (got == 0) return PacketResult::kEnd;
  packet.size = static_cast<std::size_t>(got);
  return PacketResult::kReceived;
}

std::optional<MessageHeader> peek_header(const Packet& packet) noexcept {
  MessageHeader header{};
  if (packet.size < sizeof(header)) return std::nullopt;
  std::memcpy(&header, packet.bytes.data(), sizeof(header));
  if (header.magic != kMessageMagic) return std::nullopt;
  return header;
}

bool send_bytes(int socket, std::span<const std::byte> bytes,
                std::span<const int> descriptors) noexcept {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaximumDescriptors * sizeof(int))> control{};
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

void send_goodbye(int socket, GoodbyeReason reason) noexcept {
  auto message = make_message<GoodbyeMessage>();
  message.reason = static_cast<std::uint32_t>(reason);
  [[maybe_unused]] const bool taken = send_message(socket, message);
}

}  // namespace weftline::channel
