// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "compile_state.hpp"

namespace weftline::passes {

// What several passes know about contracts.

/// "OnEach"; "an unknown trigger" for a kind that this version does not have.
[[nodiscard]] std::string_view trigger_name(TemporalRecordTriggerKind kind) noexcept;

/// Whether an activation has a time of its own that samples can be matched with.
[[nodiscard]] constexpr bool has_reference(TemporalRecordTriggerKind kind) noexcept {
  using Kind = TemporalRecordTriggerKind;
  return kind == Kind::kEach || kind == Kind::kClock || kind == Kind::kAligned ||
         kind == Kind::kWindow;
}

/// An error where a duration is longer than any in a contract may be.
void check_duration(CompileState& state, const std::string& place, std::string_view what,
                    std::int64_t ns);

}  // namespace weftline::passes
