// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/core/error.hpp"
#include "weftline/tensor/tensor.hpp"
#include "weftline/tensor/tensor_output_loan.hpp"

namespace weftline {

/// Turns a committed loan into the first handle of a published tensor and empties the loan. For
/// whoever delivers samples (a graph's runtime, a transport), not for operators. Neither blocks nor
/// allocates. A loan that is empty (TENSOR_LOAN_EMPTY) or not committed (TENSOR_NOT_COMMITTED) is
/// kInvalidArgument and stays as it was.
[[nodiscard]] expected<Tensor, Error> publish(TensorOutputLoan&& loan) noexcept;

}  // namespace weftline
