// SPDX-License-Identifier: Apache-2.0
#include "weftline/runtime/parameter_control.hpp"

#include <algorithm>
#include <utility>

#include "param_control.hpp"

namespace weftline {

const OperatorParamValues* ParamSnapshot::find(std::string_view operator_path) const noexcept {
  const auto found =
      std::ranges::find(operators, operator_path, &OperatorParamValues::operator_path);
  return found != operators.end() ? &*found : nullptr;
}

const JsonValue* ParamSnapshot::find(std::string_view operator_path,
                                     std::string_view field_path) const noexcept {
  const OperatorParamValues* const values = find(operator_path);
  if (values == nullptr) return nullptr;
  const auto found = std::ranges::find(values->fields, field_path, &ParamFieldValue::path);
  return found != values->fields.end() ? &found->value : nullptr;
}

ParamUpdateResult ParameterControlHandle::update(std::string_view operator_path,
                                                 std::string_view field_path, ParamScalar value,
                                                 const ParamUpdateOptions& options) const {
  const ParamAssignment assignment(std::string(field_path), std::move(value));
  return update(operator_path, std::span(&assignment, 1), options);
}

ParamUpdateResult ParameterControlHandle::update(std::string_view operator_path,
                                                 std::span<const ParamAssignment> batch,
                                                 const ParamUpdateOptions& options) const {
  if (!control_) {
    return {ParamUpdateStatus::kClosed,
            0,
            Error{ErrorCode::kClosed, "PARAM_CONTROL_CLOSED",
                  "the handle is of no session, or of one that did not start", 0},
            {}};
  }
  return control_->update(operator_path, batch, options, access_.get());
}

ParamSnapshot ParameterControlHandle::snapshot() const {
  return control_ ? control_->snapshot(access_.get()) : ParamSnapshot{};
}

ParameterControlHandle ParameterControlHandle::restricted(ParamAccess access) const {
  ParameterControlHandle handle(*this);
  handle.access_ = std::make_shared<const runtime::ParamAccessLink>(
      runtime::ParamAccessLink{std::move(access), access_});
  return handle;
}

}  // namespace weftline
