// SPDX-License-Identifier: Apache-2.0
#include "wake_socket.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "system_failure.hpp"

namespace weftline::channel {

namespace {

constexpr int kDrainAtMost = 16;

int socket_option(int fd, int option) noexcept {
  int value = -1;
  socklen_t size = sizeof(value);
  return ::getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

}  // namespace

expected<WakeSocket::Pair, Error> WakeSocket::create() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_failure("CHANNEL_DESCRIPTORS", "cannot create a pair of sockets", errno,
                          kOpenFilesHint);
  }
  return Pair{WakeSocket(UniqueFd{ends[0]}), UniqueFd{ends[1]}};
}

expected<WakeSocket, Error> WakeSocket::adopt(UniqueFd fd) {
  if (socket_option(fd.get(), SO_DOMAIN) != AF_UNIX ||
      socket_option(fd.get(), SO_TYPE) != SOCK_DGRAM) {
    return fail(ErrorCode::kProtocolError, "CHANNEL_WRONG_DESCRIPTOR",
                "the peer sent something else where a Unix datagram socket was expected");
  }
  return WakeSocket(std::move(fd));
}

void WakeSocket::signal() const noexcept {
  const char token = 0;
  [[maybe_unused]] const auto sent =
      ::send(fd_.get(), &token, sizeof(token), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void WakeSocket::drain() const noexcept {
  char token = 0;
  for (int i = 0; i < kDrainAtMost; ++i) {
    if (::recv(fd_.get(), &token, sizeof(token), MSG_DONTWAIT) < 0) return;
  }
}

}  // namespace weftline::channel
