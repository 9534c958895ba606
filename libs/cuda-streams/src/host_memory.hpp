// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "available_memory.hpp"
#include "weftline/core/error.hpp"

namespace weftline::cuda_streams {

/// At least one byte, aligned as a MemoryBlock, every page touched. HOST_MEMORY_EXHAUSTED where
/// that is more than `available`, which the caller need not know.
[[nodiscard]] expected<std::byte*, Error> allocate_touched(
    std::uint64_t bytes, std::uint64_t available = available_host_memory());

/// Fills fresh memory with what shows that nobody has written it. Touches every page.
void mark_unwritten(std::byte* data, std::uint64_t bytes) noexcept;

void free_touched(std::byte* data) noexcept;

}  // namespace weftline::cuda_streams
