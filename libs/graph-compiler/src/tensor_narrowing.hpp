// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "weftline/core/tensor_contract.hpp"
#include "weftline/graph/tensor_derivations.hpp"

namespace weftline {

// What a graph says of a port's tensors, put on what setup() says: it may state what setup() left
// open, and lower its bounds, and nothing else. A pool stays a pool, and what setup() derives stays
// derived. Where setup() says nothing, all of the graph's word counts.

/// Narrows `declared`; leaves it as it is and returns the contradictions when there are any:
/// "setup() states rank 2, the graph 3".
[[nodiscard]] std::string narrow(std::optional<TensorInputSpec>& declared,
                                 const TensorInputSpec& refinement);
[[nodiscard]] std::string narrow(std::optional<TensorOutputSpec>& declared,
                                 const TensorOutputDerivations& derived,
                                 const TensorOutputSpec& refinement);

}  // namespace weftline
