// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "weftline/tensor/host_waits.hpp"

namespace weftline {

/// Why a host thread waits; one counter of HostWaits each.
enum class HostWait : std::uint8_t {
  kSynchronizeForHost,
  kCopyToHost,
  kStreamlessConsumer,
  kNullConsumerStream
};

/// Counted by any thread, before it blocks. For libraries that make tensors.
class HostWaitCounters {
 public:
  void count(HostWait why) noexcept {
    counts_[static_cast<std::size_t>(why)].fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] HostWaits read() const noexcept {
    return {.synchronize_for_host = read(HostWait::kSynchronizeForHost),
            .copy_to_host = read(HostWait::kCopyToHost),
            .streamless_consumer = read(HostWait::kStreamlessConsumer),
            .null_consumer_stream = read(HostWait::kNullConsumerStream)};
  }

 private:
  [[nodiscard]] std::uint64_t read(HostWait why) const noexcept {
    return counts_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
  }
  std::array<std::atomic<std::uint64_t>, 4> counts_{};
};

}  // namespace weftline
