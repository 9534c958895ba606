// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "body_contract.hpp"
#include "weftline/core/sample.hpp"
#include "wire_format.hpp"

namespace weftline::channel {

[[nodiscard]] WireMetadata to_wire(const SampleMetadata& metadata) noexcept;

/// Nothing for values that no publisher writes: unknown flags or presence bits. Size and kind are
/// the contract's, clocks are ClockId{0}.
[[nodiscard]] std::optional<SampleMetadata> from_wire(const WireMetadata& wire,
                                                      const BodyContract& contract) noexcept;

}  // namespace weftline::channel
