// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "compile_state.hpp"
#include "weftline/graph/param_dependency.hpp"

namespace weftline {

/// The parameter values of one operator, for its derivations.
class DerivationParams {
 public:
  DerivationParams(const CompileState& state, VertexId vertex);

  /// Whether the values are admitted by their schema; what is wrong with them has been reported.
  [[nodiscard]] bool admitted() const noexcept { return admitted_; }
  /// Whether the operator's Params is the very struct that the field is in.
  [[nodiscard]] bool owns(const ParamDependency& parameter) const noexcept;
  /// An object of that struct.
  [[nodiscard]] const void* values() const noexcept { return params_.values().get(); }
  /// "com.example.Resize v1", "no parameters"
  [[nodiscard]] std::string schema_name() const;

 private:
  const ParamSet& params_;
  bool admitted_;
};

/// PHYSICAL_TENSOR_DERIVATION_FOREIGN
void report_foreign(CompileState& state, PortRef output, const DerivationParams& params,
                    const ParamDependency& parameter);

[[nodiscard]] TensorByteSpanDerivationUpdateDisposition update_of(
    const ParamDependency& parameter) noexcept;

}  // namespace weftline
