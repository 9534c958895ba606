// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/publication.hpp"

#include "pool_slot.hpp"

namespace weftline {

expected<Tensor, Error> publish(TensorOutputLoan&& loan) noexcept {
  if (!loan.valid()) return fail(ErrorCode::kInvalidArgument, "TENSOR_LOAN_EMPTY");
  if (!loan.committed()) return fail(ErrorCode::kInvalidArgument, "TENSOR_NOT_COMMITTED");
  PoolSlot& slot = *loan.release();
  slot.publish();
  return Tensor::adopt(slot);
}

}  // namespace weftline
