// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "weftline/cuda/memory_access.hpp"

namespace weftline {

/// Two uses of the same bytes, one of them a write, that nothing orders.
struct StreamOrderReport {
  struct Side {
    MemoryUse use{MemoryUse::kRead};
    std::string operation{};  ///< "copy", "write phase", …
    std::string place{};      ///< "stream 2 of emulated:0", or "the host".
    std::string activity{};   ///< Who asked for it (StreamOrderActivity); may be empty.
    bool open{false};         ///< A phase that had not ended yet.
  };
  Side earlier{};  ///< The one that was asked for first.
  Side later{};
  std::string memory{};     ///< What the bytes are part of: a tensor's slot, or a block.
  std::uint64_t offset{0};  ///< Of the bytes, in `memory`.
  std::uint64_t bytes{0};

  /// What would order them.
  [[nodiscard]] std::string missing_edge() const;
  /// One paragraph for a person.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace weftline
