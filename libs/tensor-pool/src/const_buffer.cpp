// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/const_buffer.hpp"

namespace weftline {

expected<void, Error> ConstBuffer::enqueue_ready_wait(StreamRef stream) const noexcept {
  // Without a stream that would be a wait on the host, which is asked for by its own name.
  if (bytes_ && bytes_.device() != nullptr && !stream) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED");
  }
  return bytes_.prepare_for_consumer(stream);
}

}  // namespace weftline
