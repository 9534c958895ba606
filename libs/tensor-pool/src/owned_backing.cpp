// SPDX-License-Identifier: Apache-2.0
#include "owned_backing.hpp"

#include <utility>

#include "retirement_queue.hpp"
#include "weftline/cuda/host_task.hpp"

namespace weftline {

expected<void, Error> OwnedBacking::build(MemoryKind kind, std::shared_ptr<Device> device,
                                          std::byte* data, std::shared_ptr<RetirementQueue> queue,
                                          std::uint32_t max_release_streams) {
  owned_device_ = std::move(device);
  queue_ = std::move(queue);
  set_memory(kind, owned_device_.get(), data, queue_ ? queue_->host_waits() : host_waits_);
  WEFTLINE_TRY(readiness().build(owned_device_));
  return releases().build(owned_device_, max_release_streams);
}

void OwnedBacking::last_reference_dropped() noexcept {
  if (!queue_) {
    delete this;
    return;
  }
  declare_end();
  // A host task may not call the device, so there all is left to the worker.
  if (!in_host_task()) {
    // Here, while the streams are known to be alive. What fails is tried again by the worker.
    released_ = releases().record().has_value();
    if (queue_->stopping() && has_passed().value_or(false)) {
      delete this;  // nobody else will, and nothing holds the bytes
      return;
    }
  }
  const std::shared_ptr<RetirementQueue> queue = queue_;  // the worker may be done with us at once
  queue->push(*this);
}

expected<bool, Error> OwnedBacking::has_passed() noexcept {
  if (holds_unproven_work()) return fail(ErrorCode::kFailure, "TENSOR_WORK_UNPROVEN");
  if (!released_) {
    WEFTLINE_TRY(releases().record());
    released_ = true;
  }
  return work_has_passed();
}

}  // namespace weftline
