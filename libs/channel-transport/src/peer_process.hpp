// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string_view>

#include "unique_fd.hpp"
#include "weftline/core/error.hpp"

namespace weftline::channel {

/// The process at the other end of a socket: its id, and a pidfd that is readable once it is gone.
struct PeerProcess {
  pid_t pid{0};
  UniqueFd pidfd{};
};

/// Reads the kernel's record of the peer (SO_PEERCRED). Refused: another user, or a process that is
/// gone or not visible from here (kPermissionDenied, kNotFound).
[[nodiscard]] expected<PeerProcess, Error> identify_peer(int socket);

/// "running", "stopped", "exited" or "gone", from /proc.
[[nodiscard]] std::string_view process_state(pid_t pid);

}  // namespace weftline::channel
