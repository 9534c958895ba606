// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor.hpp"

#include <cstring>

#include "pool_core.hpp"
#include "tensor_slot.hpp"

namespace weftline {
namespace {

auto empty_handle() { return fail(ErrorCode::kInvalidArgument, "TENSOR_EMPTY"); }

expected<void, Error> check_copy(const TensorSlot& slot, const void* destination,
                                 std::uint64_t bytes) noexcept {
  if (bytes > slot.layout().byte_span() || (destination == nullptr && bytes != 0)) {
    return fail(ErrorCode::kInvalidArgument, "TENSOR_COPY_SIZE");
  }
  return {};
}

/// Queues the copy, or makes it at once where no device is involved.
expected<void, Error> start_copy(TensorSlot& slot, void* destination, std::uint64_t bytes,
                                 StreamRef stream) noexcept {
  if (slot.device() == nullptr) {
    if (bytes != 0) std::memcpy(destination, slot.data(), bytes);
    return {};
  }
  WEFTLINE_TRY(slot.enqueue_ready_wait(stream));
  return slot.device()->copy(stream, destination, slot.data(), bytes);
}

}  // namespace

Tensor::Tensor(const Tensor& other) noexcept : slot_(other.slot_) {
  if (slot_ != nullptr) slot_->add_reference();
}

Tensor& Tensor::operator=(const Tensor& other) noexcept {
  Tensor copied(other);
  std::swap(slot_, copied.slot_);
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  Tensor moved(std::move(other));
  std::swap(slot_, moved.slot_);
  return *this;
}

Tensor::~Tensor() {
  if (slot_ != nullptr) slot_->drop_reference();
}

const TensorLayout& Tensor::layout() const noexcept {
  static constexpr TensorLayout kNone{};
  return slot_ != nullptr ? slot_->layout() : kNone;
}

MemoryKind Tensor::memory_kind() const noexcept {
  return slot_ != nullptr ? slot_->memory_kind() : MemoryKind::kUnknown;
}

Device* Tensor::device() const noexcept { return slot_ != nullptr ? slot_->device() : nullptr; }

const void* Tensor::data() const noexcept { return slot_ != nullptr ? slot_->data() : nullptr; }

expected<void*, Error> Tensor::mutable_data() const noexcept {
  if (slot_ == nullptr) return empty_handle();
  return fail(ErrorCode::kPermissionDenied, "TENSOR_READ_ONLY");
}

// Rule 4: ordered on the consumer's stream, by the stream. The producer's own stream is in order
// anyway, but only a plan's proof may leave the wait out (rule 5).
expected<void, Error> Tensor::enqueue_ready_wait(StreamRef stream) const noexcept {
  if (slot_ == nullptr) return empty_handle();
  return slot_->enqueue_ready_wait(stream);
}

expected<void, Error> Tensor::set_deallocation_stream(StreamRef stream) const noexcept {
  if (slot_ == nullptr) return empty_handle();
  return slot_->add_release_stream(stream);
}

expected<void, Error> Tensor::prepare_for_consumer(StreamRef stream) const noexcept {
  if (slot_ == nullptr) return empty_handle();
  if (!stream) return slot_->synchronize_for_host();
  if (slot_->device() == nullptr) return {};
  WEFTLINE_TRY(slot_->add_release_stream(stream));
  return slot_->enqueue_ready_wait(stream);
}

expected<void, Error> Tensor::synchronize_for_host() const noexcept {
  if (slot_ == nullptr) return empty_handle();
  return slot_->synchronize_for_host();
}

expected<void, Error> Tensor::copy_to_host(void* destination, std::uint64_t bytes,
                                           StreamRef stream) const noexcept {
  if (slot_ == nullptr) return empty_handle();
  WEFTLINE_TRY(check_copy(*slot_, destination, bytes));
  WEFTLINE_TRY(start_copy(*slot_, destination, bytes, stream));
  if (slot_->device() == nullptr) return {};
  slot_->core().count_host_wait();
  return slot_->device()->synchronize(stream);
}

expected<void, Error> Tensor::copy_to_host_async(void* destination, std::uint64_t bytes,
                                                 StreamRef stream) const noexcept {
  if (slot_ == nullptr) return empty_handle();
  WEFTLINE_TRY(check_copy(*slot_, destination, bytes));
  if (slot_->device() != nullptr) WEFTLINE_TRY(slot_->add_release_stream(stream));
  return start_copy(*slot_, destination, bytes, stream);
}

}  // namespace weftline
