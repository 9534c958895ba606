// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace weftline {

/// A range of bytes that an operation reads or writes.
struct MemoryAccess {
  const void* begin{nullptr};
  std::uint64_t bytes{0};
};

enum class MemoryUse : std::uint8_t { kRead, kWrite };

}  // namespace weftline
