// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "weftline/core/device_catalog.hpp"
#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline::cuda_streams {

/// What the blocks of one emulated device that lie in its own memory may take together.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t total) noexcept : total_(total) {}

  [[nodiscard]] expected<void, Error> take(DeviceId device, MemoryKind kind, std::uint64_t bytes) {
    std::uint64_t taken = taken_;
    do {
      if (bytes > total_ - taken) {
        return fail(ErrorCode::kResourceExhausted, "DEVICE_MEMORY_EXHAUSTED",
                    device.to_string() + " cannot allocate " + std::to_string(bytes) +
                        " bytes of " + std::string(memory_kind_name(kind)) + " memory: " +
                        std::to_string(total_ - taken) + " of " + std::to_string(total_) +
                        " bytes are free. Use smaller or fewer pools, or raise "
                        "EmulatedDeviceOptions::memory_bytes.");
      }
    } while (!taken_.compare_exchange_weak(taken, taken + bytes));
    return {};
  }
  void give(std::uint64_t bytes) noexcept { taken_ -= bytes; }

 private:
  const std::uint64_t total_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace weftline::cuda_streams
