// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace weftline {

// Quantities as a person reads them: a unit of 1,000 or 1,024 steps, one decimal rounded down.

/// "1.2 MiB"; "unknown" for 0.
[[nodiscard]] std::string show_bytes(std::uint64_t bytes);
/// "33.3 ms"
[[nodiscard]] std::string show_duration(std::int64_t ns);

}  // namespace weftline
