// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/graph/contract.hpp"
#include "weftline/graph/graph_snapshot.hpp"
#include "weftline/graph/operator_spec.hpp"

namespace weftline {

/// Writes `contract`, which names ports and sources by reference and parameters by field, into
/// `vertex` as values; its path, inputs and parameters are there already. Throws RuntimeError when
/// it names what is not this operator's: CONTRACT_INPUT_FOREIGN, CONTRACT_SOURCE_FOREIGN,
/// CONTRACT_PARAMETER_FOREIGN.
void freeze_contract(const Contract& contract, const OperatorSpec& spec, VertexSnapshot& vertex);

}  // namespace weftline
