// SPDX-License-Identifier: Apache-2.0
#include "peer_process.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "system_failure.hpp"

namespace weftline::channel {

expected<PeerProcess, Error> identify_peer(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return system_failure("CHANNEL_PEER_UNKNOWN", "cannot read the peer's credentials", errno);
  }
  if (credentials.uid != ::geteuid()) {
    return fail(ErrorCode::kPermissionDenied, "CHANNEL_PEER_USER",
                "the peer runs as user " + std::to_string(credentials.uid) + ", this process as " +
                    std::to_string(::geteuid()) + "; run both as one user");
  }
  // glibc declares pidfd_open only from 2.36 on, and not for C++ in every version.
  UniqueFd pidfd{static_cast<int>(::syscall(SYS_pidfd_open, credentials.pid, 0))};
  const int error = pidfd.valid() ? 0 : errno;
  if (error == ESRCH) {
    return fail(ErrorCode::kNotFound, "CHANNEL_PEER_GONE", "the peer's process has just ended");
  }
  if (error != 0) {
    return system_failure(
        "CHANNEL_PEER_UNKNOWN", "cannot watch the peer, process " + std::to_string(credentials.pid),
        error,
        is_passing(error) ? kOpenFilesHint
                          : "both processes must see each other (one PID namespace)");
  }
  return PeerProcess{credentials.pid, std::move(pidfd)};
}

std::string_view process_state(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return "gone";
  // The name in parentheses may itself contain anything; the state follows the last one.
  const auto end = line.rfind(')');
  if (end == std::string::npos || end + 2 >= line.size()) return "gone";
  switch (line[end + 2]) {
    case 'T':
    case 't':
      return "stopped";
    case 'Z':
    case 'X':
      return "exited";
    default:
      return "running";
  }
}

}  // namespace weftline::channel
