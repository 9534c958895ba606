// SPDX-License-Identifier: Apache-2.0
#include "output_runtime.hpp"

#include "weftline/tensor/publication.hpp"

namespace weftline::runtime {
namespace {

/// Both sides' values for the message of a request that breaks its output's contract; empty when it
/// holds.
std::string contract_breach(const TensorLoanRequest& request, const TensorRepresentation& stated) {
  if (stated.dtype && !same_dtype(request.dtype, *stated.dtype))
    return "dtype " + dtype_name(request.dtype) + ", declared " + dtype_name(*stated.dtype);
  if (stated.rank && request.shape.size() != *stated.rank)
    return "rank " + std::to_string(request.shape.size()) + ", declared " +
           std::to_string(*stated.rank);
  return {};
}

}  // namespace

bool OutputRuntime::refusal_over() noexcept {
  if (closed_) return true;
  if (refusal_ == Refusal::kArms && !arms_writable(1)) return false;
  if (refusal_ == Refusal::kSlot && !pool_->has_free_slot()) return false;
  refusal_ = Refusal::kNone;
  return true;
}

expected<void, Error> OutputRuntime::refusal() noexcept {
  if (!scope_.here()) return fail(ErrorCode::kInvalidArgument, kTokenOutsideCompute);
  if (closed_) return fail(ErrorCode::kClosed, "PORT_CLOSED");
  refusal_ = Refusal::kArms;
  for (const ExportArm* arm : exports_) {
    if (!arm->lacks_required_peer()) continue;
    missing_peers_.add();
    return fail(ErrorCode::kNotReady, "EXPORT_PEER_MISSING");
  }
  refused_emits_.add();
  return fail(ErrorCode::kBackpressured, "PORT_QUEUE_FULL");
}

expected<void, Error> OutputRuntime::publish_to_arms(void* value, std::uint64_t bytes,
                                                     const EmitOptions& options) noexcept {
  const TimePoint now = clock_.now();
  const auto metadata = [&]() noexcept {
    return SampleMetadata{.capture = options.capture_time,
                          .frame_id = options.frame_id,
                          .publish_time = now,
                          .sequence = sequence_,
                          .byte_size = bytes,
                          .trace = options.trace,
                          .payload_kind = record_.payload.kind,
                          .flags = options.flags | extra_flags_};
  };

  // Exports first: they alone can still refuse (a peer may have left), and then nobody has the
  // sample yet. After that the edges can't refuse: only this lane takes their room.
  for (std::size_t index = 0; index < exports_.size(); ++index) {
    auto published = exports_[index]->publish(value, metadata());
    if (!published) return unpublished(index, std::move(published).error());
  }
  const FlowStamp* const stamp = probe_ != nullptr ? probe_->emit(port_, sequence_) : nullptr;
  for (std::size_t index = 0; index < edges_.size(); ++index) {
    if (ops_.is_tensor) {
      static_cast<const Tensor*>(value)->note_queued(edges_[index]->arm(), now.timestamp_ns);
    }
    edges_[index]->push(value, index + 1 == edges_.size(), metadata, stamp);
  }
  ++sequence_;
  emits_.add();
  return {};
}

expected<void, Error> OutputRuntime::unpublished(std::size_t index, Error error) noexcept {
  const bool unknown = error.code == ErrorCode::kPublicationIndeterminate;
  const bool seen = index > 0 || unknown || error.code == ErrorCode::kPublicationPartial;
  if (!seen) {
    if (is_retryable(error.code)) {
      refusal_ = Refusal::kArms;
      (error.code == ErrorCode::kNotReady ? missing_peers_ : refused_emits_).add();
    }
    return make_unexpected(std::move(error));
  }
  ++sequence_;  // somebody may have this number
  const std::string counts = std::to_string(index) + " of " + std::to_string(exports_.size()) +
                             " exports and none of " + std::to_string(edges_.size()) +
                             " edges have the sample; the next export: " + error.to_string();
  if (unknown) {
    return fail(ErrorCode::kPublicationIndeterminate, "PORT_PUBLICATION_INDETERMINATE", counts);
  }
  return fail(ErrorCode::kPublicationPartial, "PORT_PUBLICATION_PARTIAL", counts);
}

expected<void, Error> OutputRuntime::emit(void* value, const EmitOptions& options) noexcept {
  std::uint64_t bytes = ops_.size;
  if (ops_.is_tensor) {
    const auto& tensor = *static_cast<const Tensor*>(value);
    if (!tensor) return fail(ErrorCode::kInvalidArgument, "TENSOR_EMPTY");
    bytes = tensor.byte_size();
  }
  if (!admits()) [[unlikely]]
    return refusal();
  return publish_to_arms(value, bytes, options);
}

expected<void, Error> OutputRuntime::emit_loan(TensorOutputLoan& loan,
                                               const EmitOptions& options) noexcept {
  if (loan.valid() && (pool_ == nullptr || !loan.is_of(*pool_))) {
    TensorOutputLoan consumed(std::move(loan));
    return fail(ErrorCode::kInvalidArgument, "TENSOR_LOAN_OF_ANOTHER_POOL",
                "output " + record_.name +
                    " was given a loan of another output; emit a loan where it was allocated");
  }
  if (!admits()) {
    auto refused = refusal();
    // A retryable refusal leaves the loan with the caller; every other outcome consumes it (rule
    // 8).
    if (!is_retryable(refused.error().code)) TensorOutputLoan consumed(std::move(loan));
    return refused;
  }
  auto tensor = publish(std::move(loan));
  if (!tensor) {
    // NOLINTNEXTLINE(bugprone-use-after-move): a refused publish() has moved nothing
    TensorOutputLoan consumed(std::move(loan));
    return forward_error(std::move(tensor));
  }
  if (probe_ != nullptr) probe_->commit(port_, *tensor);
  const std::uint64_t bytes = tensor->byte_size();
  return publish_to_arms(&*tensor, bytes, options);
}

expected<TensorOutputLoan, Error> OutputRuntime::allocate_tensor(
    const TensorLoanRequest& request) noexcept {
  if (!scope_.here()) return fail(ErrorCode::kInvalidArgument, kTokenOutsideCompute);
  if (pool_ == nullptr) return fail(ErrorCode::kNotSupported, "TENSOR_OUTPUT_WITHOUT_POOL");
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): only a tensor's output has a pool
  if (std::string breach = contract_breach(request, record_.tensor->representation);
      !breach.empty()) {
    return fail(ErrorCode::kInvalidArgument, "PORT_TENSOR_CONTRACT_BROKEN",
                "output " + record_.name + " asks for a tensor of " + breach +
                    "; change the request or this output's produces_tensor()");
  }
  auto loan = pool_->allocate(request, stream_);
  if (!loan && loan.error().code == ErrorCode::kResourceExhausted) {
    refusal_ = Refusal::kSlot;
    refused_loans_.add();
  }
  if (loan) loan->note_loaned(clock_.now().timestamp_ns);
  if (probe_ != nullptr) probe_->returns(port_, pool_->returns());
  return loan;
}

expected<void, Error> OutputRuntime::close() noexcept {
  if (!scope_.here()) return fail(ErrorCode::kInvalidArgument, kTokenOutsideCompute);
  if (closed_) return fail(ErrorCode::kClosed, "PORT_CLOSED");
  end();
  return {};
}

void OutputRuntime::end() noexcept {
  if (closed_) return;
  closed_ = true;
  for (EdgeQueue* edge : edges_) edge->close();
  for (ExportArm* arm : exports_) arm->close();
}

}  // namespace weftline::runtime
