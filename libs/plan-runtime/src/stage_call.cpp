// SPDX-License-Identifier: Apache-2.0
#include "stage_call.hpp"

#include <algorithm>

#include "guarded.hpp"

namespace weftline::runtime {
namespace {

constexpr std::string_view thrown_token(LifecycleStage stage) noexcept {
  return stage == LifecycleStage::kStart  ? "OPERATOR_START_THREW"
         : stage == LifecycleStage::kStop ? "OPERATOR_STOP_THREW"
                                          : "OPERATOR_STAGE_THREW";
}

LifecycleStatus dispatch(LifecycleStage stage, OperatorBase& instance, const OperatorSpec& spec,
                         OperatorContext& context) {
  const auto& declared = spec.lifecycle_callbacks();
  const auto callback = std::ranges::find(declared, stage, &LifecycleDeclaration::stage);
  if (callback != declared.end()) return callback->call(instance, context);
  if (stage == LifecycleStage::kStart) {
    instance.start(context);
  } else if (stage == LifecycleStage::kStop) {
    instance.stop(context);
  } else {
    return LifecycleStatus::kSkipped;
  }
  return LifecycleStatus::kOk;
}

}  // namespace

StageOutcome call_stage(LifecycleStage stage, OperatorBase& instance, const OperatorSpec& spec,
                        OperatorContext& context) noexcept {
  StageOutcome outcome;
  context.enter_stage(stage);
  auto returned = guarded(thrown_token(stage), [&]() -> expected<void, Error> {
    if (context.device() != nullptr) WEFTLINE_TRY(context.device()->make_current());
    outcome.status = dispatch(stage, instance, spec, context);
    return {};
  });
  Error said = context.take_failure();
  if (!returned) return {LifecycleStatus::kFatalFailure, std::move(returned).error()};
  if (!outcome.failed()) return outcome;
  if (!said.token.empty()) {
    outcome.error = std::move(said);
  } else {
    outcome.error = {ErrorCode::kFailure, "LIFECYCLE_STAGE_FAILED",
                     "the callback returned " + std::string(lifecycle_status_name(outcome.status)) +
                         "; let it say why by LifecycleContext::fail()",
                     0};
  }
  return outcome;
}

}  // namespace weftline::runtime
