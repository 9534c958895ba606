// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weftline/plan/temporal_records.hpp"

namespace weftline {

// A contract as the compiler gets it: values only, clocks by name.

struct InputSelectionSnapshot {
  std::uint32_t input{0};
  InputSelectorKind selector{InputSelectorKind::kExact};
  /// Absent where a parameter says it whose value is refused or may not enter a plan.
  std::optional<std::int64_t> max_age_ns{};
  std::string max_age_parameter{};  ///< Empty: a literal.
  bool max_age_may_enter_plan{true};
  std::int64_t lookbehind_ns{0};
  std::int64_t lookahead_ns{0};
  std::uint32_t max_samples{1};
  MissingDataKind missing{MissingDataKind::kSkip};
  std::uint32_t max_reuses{0};
};

struct SourceSnapshot {
  SourcePlanRecord record{};
  std::string clock{};  ///< Empty: the default clock.
};

/// Beside the trigger, which is a plan record from the start.
struct ContractSnapshot {
  std::string wait_clock{};  ///< OnWindow; empty: the default clock.
  std::vector<InputSelectionSnapshot> selections{};
  std::vector<SourceSnapshot> sources{};
};

}  // namespace weftline
