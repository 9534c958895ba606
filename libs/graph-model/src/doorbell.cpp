// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/doorbell.hpp"

namespace weftline {

expected<void, Error> DoorbellChannel::ring(std::uint64_t count) noexcept {
  if (closed_.load(std::memory_order_relaxed)) return fail(ErrorCode::kClosed, "SOURCE_CLOSED");
  std::uint64_t seen = rung_.load(std::memory_order_relaxed);
  while (seen < count) {
    if (rung_.compare_exchange_weak(seen, count, std::memory_order_seq_cst,
                                    std::memory_order_relaxed)) {
      wake_();
      break;
    }
  }
  return {};
}

}  // namespace weftline
