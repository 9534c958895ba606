// SPDX-License-Identifier: Apache-2.0
//
// Needs: operators with their parameters.
// Adds: a record for each pooled output whose memory kind is derived, and the kind in the output
// itself, as if setup() had stated it; errors for parameters of another struct. Where the
// operator's parameters were refused, the kind stays unknown.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "derivation_params.hpp"
#include "passes/passes.hpp"

namespace weftline::passes {
namespace {

/// The words by which documents know the value.
std::string show(const ParamFieldDescriptor& field, const ParamScalar& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const auto choice = std::ranges::find(field.choices, value, &ParamFieldDescriptor::Choice::value);
  return choice != field.choices.end() ? choice->name : "";
}

void derive(CompileState& state, PortRef output, const TensorMemoryKindExpression& expression) {
  auto& tensor = state.op(output.vertex).outputs[output.port].tensor;
  const ParamDependency& parameter = expression.parameter();
  TensorMemoryKindDerivationPlanRecord record{.output = output,
                                              .form = expression.form(),
                                              .parameter = parameter.field.path,
                                              .schema_id = parameter.schema_id,
                                              .schema_version = parameter.schema_version,
                                              .value = {},
                                              .kind = {},
                                              .update = update_of(parameter)};
  const DerivationParams params(state, output.vertex);
  if (!params.owns(parameter)) {
    report_foreign(state, output, params, parameter);
  } else if (params.admitted() && tensor) {
    const ParamScalar value = parameter.field.read(params.values()).front();
    const auto found =
        std::ranges::find(expression.cases(), value, &TensorMemoryKindExpression::Case::value);
    if (found != expression.cases().end()) {
      record.value = show(parameter.field, value);
      record.kind = found->kind;
      tensor->representation.memory_kind = found->kind;
    }
  }
  state.plan.tensor_memory_kind_derivations.push_back(std::move(record));
}

}  // namespace

void derive_memory_kinds(CompileState& state) {
  for (const OperatorPlanRecord& op : state.plan.operators) {
    for (const auto& [port, derivations] : state.graph.vertices[op.id.value].derivations) {
      if (derivations.memory_kind && derivations.memory_kind->valid()) {
        derive(state, {op.id, port}, *derivations.memory_kind);
      }
    }
  }
}

}  // namespace weftline::passes
