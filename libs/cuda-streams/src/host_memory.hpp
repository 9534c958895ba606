// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "weftline/core/error.hpp"

namespace weftline::cuda_streams {

/// At least one byte, aligned as a MemoryBlock, every page touched. HOST_MEMORY_EXHAUSTED where
/// that is more than is available to this process.
[[nodiscard]] expected<std::byte*, Error> allocate_touched(std::uint64_t bytes);
/// The same for a caller who knows what is `available`.
[[nodiscard]] expected<std::byte*, Error> allocate_touched(std::uint64_t bytes,
                                                           std::uint64_t available);

/// Fills fresh memory with what shows that nobody has written it. Touches every page.
void mark_unwritten(std::byte* data, std::uint64_t bytes) noexcept;

void free_touched(std::byte* data) noexcept;

}  // namespace weftline::cuda_streams
