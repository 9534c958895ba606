// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "weftline/core/tensor_contract.hpp"

namespace weftline {

/// Where the two ends of a flow state different tensors: "the output states rank 2, the input 3;
/// …". Empty when they agree. A fact that one end leaves out, or derives, agrees with everything.
[[nodiscard]] std::string tensor_contract_conflicts(const std::optional<TensorOutputSpec>& produced,
                                                    const std::optional<TensorInputSpec>& expected);

}  // namespace weftline
