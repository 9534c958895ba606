// SPDX-License-Identifier: Apache-2.0
#include "output_runtime.hpp"

#include "weftline/tensor/publication.hpp"

namespace weftline::runtime {

bool OutputRuntime::arms_writable(std::uint32_t count) noexcept {
  for (EdgeQueue* edge : edges_) {
    if (!edge->has_room(count)) return false;
  }
  for (const ExportArm* arm : exports_) {
    if (!arm->writable()) return false;
  }
  return true;
}

bool OutputRuntime::refusal_over() noexcept {
  if (refusal_ == Refusal::kArms && !arms_writable(1)) return false;
  if (refusal_ == Refusal::kSlot && !pool_->has_free_slot()) return false;
  refusal_ = Refusal::kNone;
  return true;
}

expected<void, Error> OutputRuntime::admit() noexcept {
  if (closed_) return fail(ErrorCode::kClosed, "PORT_CLOSED");
  if (arms_writable(1)) return {};
  refusal_ = Refusal::kArms;
  refused_emits_.add();
  for (const ExportArm* arm : exports_) {
    if (arm->lacks_required_peer()) return fail(ErrorCode::kNotReady, "EXPORT_PEER_MISSING");
  }
  return fail(ErrorCode::kBackpressured, "PORT_QUEUE_FULL");
}

expected<void, Error> OutputRuntime::publish_to_arms(void* value, std::uint64_t bytes,
                                                     const EmitOptions& options) noexcept {
  SampleMetadata metadata{};
  metadata.capture = options.capture_time;
  metadata.frame_id = options.frame_id;
  metadata.publish_time = clock_.now();
  metadata.sequence = sequence_;
  metadata.byte_size = bytes;
  metadata.trace = options.trace;
  metadata.flags = options.flags;
  metadata.payload_kind = record_.payload.kind;

  // Exports first: they alone can still refuse (a peer may have left), and then nobody has the
  // sample yet. After that the edges can't refuse: only this lane takes their room.
  for (std::size_t index = 0; index < exports_.size(); ++index) {
    const std::span body(static_cast<const std::byte*>(value), ops_.size);
    auto published = exports_[index]->publish(body, metadata);
    if (published) continue;
    if (index > 0) return fail(ErrorCode::kPublicationPartial, "PORT_PUBLICATION_PARTIAL");
    if (is_retryable(published.error().code)) {
      refusal_ = Refusal::kArms;
      refused_emits_.add();
    }
    return published;
  }
  for (std::size_t index = 0; index < edges_.size(); ++index) {
    edges_[index]->push(value, index + 1 == edges_.size(), metadata);
  }
  ++sequence_;
  emits_.add();
  return {};
}

expected<void, Error> OutputRuntime::emit(void* value, const EmitOptions& options) noexcept {
  WEFTLINE_TRY(admit());
  const std::uint64_t bytes =
      ops_.is_tensor ? static_cast<const Tensor*>(value)->byte_size() : ops_.size;
  return publish_to_arms(value, bytes, options);
}

expected<void, Error> OutputRuntime::emit_loan(TensorOutputLoan& loan,
                                               const EmitOptions& options) noexcept {
  if (auto admitted = admit(); !admitted) {
    // A retryable refusal leaves the loan with the caller; every other outcome consumes it (rule
    // 8).
    if (!is_retryable(admitted.error().code)) TensorOutputLoan consumed(std::move(loan));
    return admitted;
  }
  auto tensor = publish(std::move(loan));
  if (!tensor) {
    TensorOutputLoan consumed(std::move(loan));
    return forward_error(std::move(tensor));
  }
  const std::uint64_t bytes = tensor->byte_size();
  return publish_to_arms(&*tensor, bytes, options);
}

expected<TensorOutputLoan, Error> OutputRuntime::allocate_tensor(
    const TensorLoanRequest& request) noexcept {
  if (pool_ == nullptr) return fail(ErrorCode::kNotSupported, "TENSOR_OUTPUT_WITHOUT_POOL");
  auto loan = pool_->allocate(request, stream_);
  if (!loan && loan.error().code == ErrorCode::kResourceExhausted) {
    refusal_ = Refusal::kSlot;
    refused_loans_.add();
  }
  return loan;
}

expected<void, Error> OutputRuntime::close() noexcept {
  if (closed_) return fail(ErrorCode::kClosed, "PORT_CLOSED");
  closed_ = true;
  for (EdgeQueue* edge : edges_) edge->close();
  for (ExportArm* arm : exports_) arm->close();
  return {};
}

}  // namespace weftline::runtime
