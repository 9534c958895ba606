// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/trigger.hpp"

// A spin source where a notification source belongs.
weftline::Trigger mistake(const weftline::SpinSourceRef& flag) {
  return weftline::OnNotified{.event = flag};
}
