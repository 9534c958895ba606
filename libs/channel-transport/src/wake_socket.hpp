// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "unique_fd.hpp"
#include "weftline/core/error.hpp"

namespace weftline::channel {

/// One end of a link's pair of datagram sockets, over which each process wakes the other: signal()
/// makes the other end readable, drain() makes this one quiet. Neither blocks, whatever the peer
/// does: an end shares no flag and no counter with the other, each call says that it does not wait,
/// and a full queue means that the peer is awake already. A peer that is gone is silence.
///
/// Not an eventfd: both processes would hold one file, and a peer that fills its counter and clears
/// O_NONBLOCK makes the next write sleep for ever (ADR 0004, with the price).
class WakeSocket {
 public:
  struct Pair;
  [[nodiscard]] static expected<Pair, Error> create();
  /// Takes a received descriptor; anything but such a socket is refused.
  [[nodiscard]] static expected<WakeSocket, Error> adopt(UniqueFd fd);

  void signal() const noexcept;
  /// Takes a bounded number of signals; a peer that sends more than that leaves it readable.
  void drain() const noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  explicit WakeSocket(UniqueFd fd) noexcept : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

struct WakeSocket::Pair {
  WakeSocket here;
  UniqueFd there;  ///< To be sent to the peer.
};

}  // namespace weftline::channel
