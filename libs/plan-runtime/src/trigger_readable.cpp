// SPDX-License-Identifier: Apache-2.0
#include "trigger_readable.hpp"

#include <poll.h>

#include <string>

namespace weftline::runtime {

TriggerState::Look ReadableTrigger::look() noexcept {
  pollfd watched{.fd = source_.descriptor(), .events = POLLIN, .revents = 0};
  // An interrupted call has seen nothing yet; the lane comes back.
  if (::poll(&watched, 1, 0) <= 0) return Look::kNothing;
  const bool broken = (watched.revents & (POLLERR | POLLNVAL)) != 0;
  if (!broken) return Look::kDue;  // a hang-up, too: the operator reads the end
  const bool closed = (watched.revents & POLLNVAL) != 0;
  return failed({ErrorCode::kFailure, "SOURCE_DESCRIPTOR_FAILED",
                 "descriptor " + std::to_string(watched.fd) + " of source " + source_.name() +
                     (closed ? " was closed while the operator runs; close it in stop()"
                             : " reports an error (POLLERR)"),
                 0});
}

}  // namespace weftline::runtime
