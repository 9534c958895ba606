// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor.hpp"

namespace weftline {
namespace {

auto empty_handle() { return fail(ErrorCode::kInvalidArgument, "TENSOR_EMPTY"); }

}  // namespace

const TensorLayout& Tensor::layout() const noexcept {
  static constexpr TensorLayout kNone{};
  return backing_ != nullptr ? backing_->layout() : kNone;
}

expected<void*, Error> Tensor::mutable_data() const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return fail(ErrorCode::kPermissionDenied, "TENSOR_READ_ONLY");
}

// Rule 4: ordered on the consumer's stream, by the stream. The producer's own stream is in order
// anyway, but only a plan's proof may leave the wait out (rule 5).
expected<void, Error> Tensor::enqueue_ready_wait(StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->enqueue_ready_wait(stream);
}

expected<void, Error> Tensor::set_deallocation_stream(StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->add_release_stream(stream);
}

expected<void, Error> Tensor::prepare_for_consumer(StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->prepare_for_consumer(stream);
}

expected<void, Error> Tensor::synchronize_for_consumer_stream(StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->synchronize_for_consumer_stream(stream);
}

bool Tensor::has_readiness_stream_contract() const noexcept {
  return backing_ != nullptr && backing_->has_readiness_stream_contract();
}

expected<void, Error> Tensor::set_readiness_stream(StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->set_readiness_stream(stream);
}

expected<void, Error> Tensor::prepare_for_export(StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->prepare_for_export(stream);
}

expected<void, Error> Tensor::synchronize_for_host() const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->synchronize_for_host();
}

expected<void, Error> Tensor::copy_to_host(void* destination, std::uint64_t bytes,
                                           StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->copy_to_host(destination, bytes, stream);
}

expected<void, Error> Tensor::copy_to_host_async(void* destination, std::uint64_t bytes,
                                                 StreamRef stream) const noexcept {
  if (backing_ == nullptr) return empty_handle();
  return backing_->copy_to_host_async(destination, bytes, stream);
}

}  // namespace weftline
