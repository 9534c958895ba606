// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operator_context.hpp"
#include "weftline/core/error.hpp"
#include "weftline/graph/operator.hpp"

namespace weftline::runtime {

/// How one operator left one stage of its lifecycle.
struct StageOutcome {
  LifecycleStatus status{LifecycleStatus::kOk};
  Error error{};  ///< Of a failure.

  [[nodiscard]] bool failed() const noexcept {
    return status != LifecycleStatus::kOk && status != LifecycleStatus::kSkipped;
  }
};

/// Calls what the operator has for a stage: the callback that setup() declared, else start() or
/// stop(), else nothing. Whatever start() and stop() throw is a fatal failure.
[[nodiscard]] StageOutcome call_stage(LifecycleStage stage, OperatorBase& instance,
                                      const OperatorSpec& spec, OperatorContext& context) noexcept;

}  // namespace weftline::runtime
