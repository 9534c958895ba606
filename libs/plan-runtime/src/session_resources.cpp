// SPDX-License-Identifier: Apache-2.0
#include "session_resources.hpp"

namespace weftline::runtime {

void SessionResources::release_samples() noexcept {
  // A handle that a user keeps beyond the run must not wake a lane that is gone.
  for (const auto& pool : pools) pool->set_return_callback({});
  for (const auto& operation : operators) {
    operation->destroy_instance();
    operation->clear_inputs();
  }
  for (const auto& edge : edges) edge->clear();
  for (const auto& queue : import_queues) queue->clear();
}

void SessionResources::synchronize_streams() noexcept {
  for (const Stream& stream : *streams) {
    auto done = stream.ref().device()->synchronize(stream.ref());
    if (!done) control.fail(stream.ref().device()->id().to_string(), std::move(done).error());
  }
}

}  // namespace weftline::runtime
