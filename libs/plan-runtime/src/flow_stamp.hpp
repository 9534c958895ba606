// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "weftline/core/ids.hpp"

namespace weftline::runtime {

/// What a run that keeps latencies adds to a sample while it is in a queue of this process: when it
/// was published, and when the oldest activation of a source that went into it began. Nanoseconds
/// of the machine's monotonic clock. Never leaves the process.
struct FlowStamp {
  std::int64_t published_ns{0};
  std::int64_t origin_ns{0};
  VertexId origin{};  ///< Invalid: nobody knows.
};

}  // namespace weftline::runtime
