// SPDX-License-Identifier: Apache-2.0
#include "weftline/cuda/memory_block.hpp"

#include <utility>

#include "host_memory.hpp"
#include "order_model.hpp"
#include "weftline/cuda/device.hpp"

namespace weftline {

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : device_(std::move(other.device_)),
      kind_(std::exchange(other.kind_, MemoryKind::kUnknown)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  MemoryBlock taken(std::move(other));
  std::swap(device_, taken.device_);
  std::swap(kind_, taken.kind_);
  std::swap(data_, taken.data_);
  std::swap(bytes_, taken.bytes_);
  return *this;
}

MemoryBlock::~MemoryBlock() {
  if (data_ == nullptr) {
    return;
  }
  if (device_) {
    if (auto* const model = device_->order_model()) {
      model->memory_gone(data_);
    }
    device_->do_free(kind_, data_, bytes_);
  } else {
    cuda_streams::free_touched(data_);
  }
}

expected<MemoryBlock, Error> allocate_host_memory(std::uint64_t bytes) {
  if (bytes == 0) {
    return MemoryBlock(nullptr, MemoryKind::kHost, nullptr, 0);
  }
  WEFTLINE_ASSIGN(std::byte* const data, cuda_streams::allocate_touched(bytes));
  return MemoryBlock(nullptr, MemoryKind::kHost, data, bytes);
}

}  // namespace weftline
