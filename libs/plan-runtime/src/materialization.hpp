// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "session_steps.hpp"

namespace weftline::runtime {

/// Whether this version can run the plan as it is written; asked before anything is made. `bound`:
/// imports have ports.
[[nodiscard]] expected<void, RunDiagnostic> admit_plan(const ExecutionPlan& plan,
                                                       const RunOptions& options, bool bound);

/// Makes everything that a plan counts, cold, on the thread that calls run_async().
[[nodiscard]] std::span<const SessionStep> materialization_steps() noexcept;

}  // namespace weftline::runtime
