// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "weftline/plan/plan_records.hpp"

namespace weftline {

// Contracts in words.

/// "every 33.3 ms", "each frames, starts within 2 ms or fails the run".
[[nodiscard]] std::string show_trigger(const OperatorPlanRecord& record);
/// "takes the latest within 5 ms, else skips; holds 1 beyond the queue".
[[nodiscard]] std::string show_selection(const EdgeSelectionRecord& selection);

}  // namespace weftline
