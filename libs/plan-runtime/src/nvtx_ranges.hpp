// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace weftline::runtime::nvtx {

// Ranges and marks in the NVTX domain "weftline". A few instructions each while no profiler is
// attached. Every function may be called from any thread; a range ends on the thread that began it.

/// A name that profilers know; null in a build without the CUDA Toolkit.
using Name = void*;

/// False in a build without the CUDA Toolkit; the other functions do nothing then.
[[nodiscard]] bool available() noexcept;
/// Cold. Kept for the whole process.
[[nodiscard]] Name register_name(const std::string& text);
void begin(Name name) noexcept;
void end() noexcept;
void mark(Name name) noexcept;

}  // namespace weftline::runtime::nvtx
