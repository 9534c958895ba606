// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/release_set.hpp"

#include <new>

namespace weftline {

expected<void, Error> ReleaseSet::build(const std::shared_ptr<Device>& device,
                                        std::uint32_t capacity) {
  if (!device || capacity == 0) return {};
  entries_.reset(new (std::nothrow) Entry[capacity]);
  if (!entries_) {
    return fail(ErrorCode::kResourceExhausted, "TENSOR_POOL_MEMORY",
                "no host memory for " + std::to_string(capacity) +
                    " release streams of a tensor: lower their number");
  }
  for (std::uint32_t index = 0; index < capacity; ++index) {
    WEFTLINE_ASSIGN(entries_[index].event, device->create_event());
  }
  device_ = device.get();
  capacity_ = capacity;
  return {};
}

bool ReleaseSet::add(StreamRef stream) noexcept {
  // Entries are claimed from the front, each once, and none is freed while a handle exists. So two
  // threads with one stream walk the same entries and compete for the same free one: the loser
  // reads the winner's stream there and finds its own. A stream is never entered twice, without a
  // lock.
  for (std::uint32_t index = 0; index < capacity_; ++index) {
    CUstream_st* present = entries_[index].stream.load(std::memory_order_relaxed);
    if (present == nullptr && entries_[index].stream.compare_exchange_strong(
                                  present, stream.get(), std::memory_order_relaxed)) {
      return true;
    }
    if (present == stream.get()) return true;
  }
  return false;
}

expected<void, Error> ReleaseSet::record() noexcept {
  for (std::uint32_t index = 0; stream_at(index) != nullptr; ++index) {
    WEFTLINE_TRY(
        device_->record(entries_[index].event.ref(), StreamRef(*device_, stream_at(index))));
  }
  return {};
}

expected<bool, Error> ReleaseSet::poll() noexcept {
  for (; stream_at(passed_) != nullptr; ++passed_) {
    WEFTLINE_ASSIGN(const bool passed, device_->is_complete(entries_[passed_].event.ref()));
    if (!passed) return false;
  }
  return true;
}

void ReleaseSet::synchronize_events() noexcept {
  for (std::uint32_t index = 0; stream_at(index) != nullptr; ++index) {
    static_cast<void>(device_->synchronize(entries_[index].event.ref()));
  }
}

void ReleaseSet::synchronize_streams() noexcept {
  for (std::uint32_t index = 0; stream_at(index) != nullptr; ++index) {
    static_cast<void>(device_->synchronize(StreamRef(*device_, stream_at(index))));
  }
}

}  // namespace weftline
