// SPDX-License-Identifier: Apache-2.0
#include "weftline/graph/tensor_memory_kind.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace weftline {
namespace {

using Case = TensorMemoryKindExpression::Case;
using Form = TensorMemoryKindExpressionForm;
using Reason = TensorMemoryKindExpressionInvalidReason;

bool is_concrete(MemoryKind kind) {
  return kind == MemoryKind::kHost || kind == MemoryKind::kPinnedHost ||
         kind == MemoryKind::kCudaDevice || kind == MemoryKind::kCudaManaged;
}

std::set<ParamScalar> listed_values(const ParamFieldDescriptor& field) {
  if (field.type.kind == ParamKind::kBool) return {false, true};
  std::set<ParamScalar> values;
  for (const auto& choice : field.choices) values.insert(choice.value);
  return values;
}

MemoryKind kind_of(const ParamScalar& value) {
  const auto* number = std::get_if<std::uint64_t>(&value);
  if (number == nullptr || *number > 0xff) return MemoryKind::kUnknown;
  return static_cast<MemoryKind>(*number);
}

std::vector<Case> direct_cases(const ParamFieldDescriptor& field) {
  std::vector<Case> cases;
  cases.reserve(field.choices.size());
  for (const auto& choice : field.choices) cases.push_back({choice.value, kind_of(choice.value)});
  return cases;
}

Reason check_mapping(const ParamFieldDescriptor& field, const std::vector<Case>& cases) {
  if (cases.size() > kMaximumTensorMemoryKindMappingCases) return Reason::kTooManyCases;
  const auto listed = listed_values(field);
  std::set<ParamScalar> seen;
  for (const Case& each : cases) {
    if (!listed.contains(each.value)) return Reason::kCaseUnlisted;
    if (!seen.insert(each.value).second) return Reason::kCaseRepeated;
  }
  return seen.size() < listed.size() ? Reason::kCaseMissing : Reason::kNone;
}

Reason check(const ParamDependency& parameter, const std::vector<Case>& cases) {
  if (parameter.field.sensitive) return Reason::kParameterSensitive;
  if (parameter.changes_while_running()) return Reason::kParameterMayChange;
  if (const Reason reason = check_mapping(parameter.field, cases); reason != Reason::kNone) {
    return reason;
  }
  const bool concrete = std::ranges::all_of(cases, is_concrete, &Case::kind);
  return concrete ? Reason::kNone : Reason::kKindUnknown;
}

}  // namespace

std::string_view tensor_memory_kind_invalid_text(Reason reason) noexcept {
  static constexpr auto kTexts = std::to_array<std::string_view>(
      {"", "it can lead to MemoryKind::kUnknown or to no kind at all", "it has more than 64 cases",
       "two cases are for one value", "a case is for a value that the field does not list",
       "a value that the field lists has no case", "the parameter is sensitive",
       "the parameter may change while the plan runs; declare it recompile_required()"});
  const auto index = static_cast<std::size_t>(reason);
  return index < kTexts.size() ? kTexts[index] : "it is invalid";
}

TensorMemoryKindExpression::TensorMemoryKindExpression(TensorMemoryKindExpressionForm form,
                                                       ParamDependency parameter,
                                                       std::vector<Case> cases)
    : form_(form),
      parameter_(std::make_shared<const ParamDependency>(std::move(parameter))),
      cases_(form == Form::kDirect ? direct_cases(parameter_->field) : std::move(cases)),
      reason_(check(*parameter_, cases_)) {}

}  // namespace weftline
