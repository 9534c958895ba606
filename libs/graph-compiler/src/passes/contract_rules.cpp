// SPDX-License-Identifier: Apache-2.0
#include "passes/contract_rules.hpp"

#include <array>
#include <cstddef>

#include "weftline/graph/trigger.hpp"

namespace weftline::passes {

std::string_view trigger_name(TemporalRecordTriggerKind kind) noexcept {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"OnAnyInput", "OnEach", "OnClock", "OnReadable", "OnNotified", "OnDoorbell", "OnSpin",
       "OnAligned", "OnWindow"});
  const auto index = static_cast<std::size_t>(kind);
  return index < kNames.size() ? kNames[index] : "an unknown trigger";
}

void check_duration(CompileState& state, const std::string& place, std::string_view what,
                    std::int64_t ns) {
  if (ns <= kMaximumContractDuration.count()) return;
  state.error("CONTRACT_DURATION_TOO_LONG", place,
              std::string(what) + " is " + std::to_string(ns) +
                  " ns, the longest duration in a contract is " +
                  std::to_string(kMaximumContractDuration.count()) + " ns (365 days)",
              "give a shorter one");
}

}  // namespace weftline::passes
