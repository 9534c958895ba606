// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "weftline/core/sample.hpp"
#include "wire_format.hpp"

namespace weftline::channel {

[[nodiscard]] WireMetadata to_wire(const SampleMetadata& metadata) noexcept;

/// Nothing for values that no publisher writes: unknown flags, kinds or presence bits.
[[nodiscard]] std::optional<SampleMetadata> from_wire(const WireMetadata& wire) noexcept;

}  // namespace weftline::channel
