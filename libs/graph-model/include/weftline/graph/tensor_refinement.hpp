// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "weftline/core/error.hpp"
#include "weftline/core/tensor_contract.hpp"

namespace weftline {

struct OutputDeclaration;

/// Where the two ends of a flow state different tensors: "the output states rank 2, the input 3;
/// …". Empty when they agree. A fact that one end leaves out, or derives, agrees with everything.
[[nodiscard]] std::string tensor_contract_conflicts(const std::optional<TensorOutputSpec>& produced,
                                                    const std::optional<TensorInputSpec>& expected);

/// What becomes of an output's declaration when a graph refines it, or why it may not. A refinement
/// states further facts or lower bounds; it takes nothing back:
///   TENSOR_OVERRIDE_CONFLICT  a fact that setup() states otherwise
///   TENSOR_OVERRIDE_WIDENS    a bound above the one that setup() states, or a bound of 0
///   TENSOR_OVERRIDE_POOL      a pool for an output that passes through, or anything that would
///                             replace or resize a pool that is derived
/// The storage stays setup()'s: a refinement that leaves it at kPassThrough removes no pool. All
/// codes are kInvalidArgument.
[[nodiscard]] expected<TensorOutputSpec, Error> refine_tensor_output(
    const OutputDeclaration& declared, const TensorOutputSpec& refinement);

}  // namespace weftline
