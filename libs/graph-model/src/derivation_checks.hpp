// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "weftline/graph/operator_spec.hpp"

namespace weftline {

/// What one call of produces_tensor() shows to be wrong; throws RuntimeError. `port` is the
/// output's name, `inputs` what the operator has declared so far.
void check_derivations(const std::string& port, const TensorOutputSpec& tensor,
                       const TensorOutputDerivations& derivations,
                       const std::vector<InputDeclaration>& inputs);

}  // namespace weftline
