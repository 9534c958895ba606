// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weftline {

/// How often a host thread had to wait for device work on tensors, by the reason. Nothing else on
/// the path of a tensor waits. A call that found the work done is not counted.
struct HostWaits {
  std::uint64_t synchronize_for_host{0};
  std::uint64_t copy_to_host{0};         ///< Every blocking copy of device memory counts.
  std::uint64_t streamless_consumer{0};  ///< The runtime's own, before a consumer without a stream.
  /// synchronize_for_consumer_stream() and DLPack exports that were given no stream.
  std::uint64_t null_consumer_stream{0};

  [[nodiscard]] std::uint64_t total() const noexcept {
    return synchronize_for_host + copy_to_host + streamless_consumer + null_consumer_stream;
  }
};

}  // namespace weftline
