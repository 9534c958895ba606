// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "weftline/core/error.hpp"

namespace weftline::cuda_streams {

/// At least one byte, aligned as a MemoryBlock, every page touched. HOST_MEMORY_EXHAUSTED when the
/// machine does not have that much.
[[nodiscard]] expected<std::byte*, Error> allocate_touched(std::uint64_t bytes);

void free_touched(std::byte* data) noexcept;

}  // namespace weftline::cuda_streams
