// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/lifecycle_spec.hpp"

#include <algorithm>
#include <string>

#include "weftline/core/error.hpp"

namespace weftline {
namespace {

[[noreturn]] void refuse(std::string_view token, std::string why) {
  throw RuntimeError({ErrorCode::kInvalidArgument, token, std::move(why), 0});
}

}  // namespace

std::string_view lifecycle_status_name(LifecycleStatus status) noexcept {
  switch (status) {
    case LifecycleStatus::kOk:
      return "kOk";
    case LifecycleStatus::kSkipped:
      return "kSkipped";
    case LifecycleStatus::kRetryableFailure:
      return "kRetryableFailure";
    case LifecycleStatus::kFatalFailure:
      return "kFatalFailure";
  }
  return "kUnknown";
}

void LifecycleSpecBuilder::require_new(LifecycleStage stage, bool has_start, bool has_stop) const {
  if (stage > LifecycleStage::kRelease) {
    refuse("LIFECYCLE_STAGE_INVALID",
           "there is no lifecycle stage " + std::to_string(static_cast<unsigned>(stage)));
  }
  const std::string name(lifecycle_stage_name(stage));
  if (std::ranges::any_of(*declared_, [&](const auto& other) { return other.stage == stage; })) {
    refuse("LIFECYCLE_STAGE_DUPLICATE",
           "stage " + name + " has a callback already; declare one and call the other from it");
  }
  const bool overridden = (stage == LifecycleStage::kStart && has_start) ||
                          (stage == LifecycleStage::kStop && has_stop);
  if (overridden) {
    refuse("LIFECYCLE_STAGE_DUPLICATE", "stage " + name +
                                            " has a callback already: the class overrides " + name +
                                            "(), which is the same; take one of them out");
  }
}

void require_lifecycle_of(const std::vector<LifecycleDeclaration>& declared,
                          const OperatorBase& instance) {
  for (const LifecycleDeclaration& declaration : declared) {
    if (declaration.belongs(instance)) continue;
    refuse("LIFECYCLE_CALLBACK_FOREIGN",
           "the callback of stage " + std::string(lifecycle_stage_name(declaration.stage)) +
               " is a member of another operator's class; declare members of this one");
  }
}

}  // namespace weftline
