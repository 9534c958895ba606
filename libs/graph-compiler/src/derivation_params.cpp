// SPDX-License-Identifier: Apache-2.0
#include "derivation_params.hpp"

namespace weftline {

DerivationParams::DerivationParams(const CompileState& state, VertexId vertex)
    : params_(state.graph.vertices[vertex.value].params), admitted_(params_.findings().empty()) {}

bool DerivationParams::owns(const ParamDependency& parameter) const noexcept {
  return params_.type() != nullptr && *params_.type() == *parameter.params;
}

std::string DerivationParams::schema_name() const {
  const ParamSchema* schema = params_.schema();
  if (schema == nullptr) return "no parameters";
  return schema->id() + " v" + std::to_string(schema->version());
}

void report_foreign(CompileState& state, PortRef output, const DerivationParams& params,
                    const ParamDependency& parameter) {
  state.error("PHYSICAL_TENSOR_DERIVATION_FOREIGN", state.plan.output_name(output),
              "it is derived from parameter " + parameter.field.path + " of " +
                  parameter.schema_id + " v" + std::to_string(parameter.schema_version) +
                  ", the operator's own parameters are " + params.schema_name() +
                  (params.schema_name() ==
                           parameter.schema_id + " v" + std::to_string(parameter.schema_version)
                       ? ", a different struct"
                       : ""),
              "take param_ref<>() of the struct in the operator's Operator<Params>");
}

TensorByteSpanDerivationUpdateDisposition update_of(const ParamDependency& parameter) noexcept {
  return parameter.field.mutability == ParamMutability::kCompileTime
             ? TensorByteSpanDerivationUpdateDisposition::kFrozenCompileTime
             : TensorByteSpanDerivationUpdateDisposition::kRecompileRequired;
}

}  // namespace weftline
