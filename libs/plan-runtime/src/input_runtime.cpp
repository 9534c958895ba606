// SPDX-License-Identifier: Apache-2.0
#include "input_runtime.hpp"

#include "weftline/tensor/tensor.hpp"

namespace weftline::runtime {
namespace {

/// Both sides' values for the message of a contract that a received tensor breaks; empty when it
/// holds.
std::string contract_breach(const Tensor& tensor, const TensorRepresentation& wanted) {
  if (wanted.memory_kind && tensor.memory_kind() != *wanted.memory_kind) {
    return "memory kind " + std::string(memory_kind_name(tensor.memory_kind())) + ", wanted " +
           std::string(memory_kind_name(*wanted.memory_kind));
  }
  if (wanted.dtype && !same_dtype(tensor.dtype(), *wanted.dtype)) {
    return "dtype " + dtype_name(tensor.dtype()) + ", wanted " + dtype_name(*wanted.dtype);
  }
  if (wanted.rank && tensor.layout().rank != *wanted.rank) {
    return "rank " + std::to_string(tensor.layout().rank) + ", wanted " +
           std::to_string(*wanted.rank);
  }
  return {};
}

}  // namespace

expected<void, Error> InputRuntime::select() noexcept {
  const EdgeQueue::Front front = edge_->front();
  if (ops_.is_tensor) {
    const auto& tensor = *static_cast<const Tensor*>(front.value);
    if (record_.tensor) {
      if (std::string breach = contract_breach(tensor, record_.tensor->representation);
          !breach.empty()) {
        return fail(ErrorCode::kProtocolError, "RUN_TENSOR_CONTRACT_BROKEN",
                    "input " + record_.name + " received a tensor of " + breach +
                        "; change the producer or this input's expects_tensor()");
      }
    }
    const std::int64_t began = probe_ != nullptr ? probe_->begin_prepare(tensor) : 0;
    WEFTLINE_TRY(tensor.prepare_for_consumer(stream_));
    if (probe_ != nullptr) probe_->end_prepare(port_, stream_, began);
    tensor.note_taken(edge_->arm());
  }
  if (probe_ != nullptr) {
    probe_->receive(port_, front.metadata->sequence, edge_->front_stamp());
  }
  selected_ = true;
  return {};
}

void InputRuntime::finish_activation() noexcept {
  if (!selected_) return;
  selected_ = false;
  unread_.add();
  edge_->pop();
}

expected<void, Error> InputRuntime::receive(void* value, SampleMetadata& metadata) noexcept {
  if (!selected_) {
    return edge_->ended() ? fail(ErrorCode::kClosed, "PORT_ENDED")
                          : fail(ErrorCode::kNotReady, "PORT_NOT_SELECTED");
  }
  const EdgeQueue::Front front = edge_->front();
  ops_.move_assign(value, front.value);
  metadata = *front.metadata;
  selected_ = false;
  edge_->pop();
  return {};
}

}  // namespace weftline::runtime
