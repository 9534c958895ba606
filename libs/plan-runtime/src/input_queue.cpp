// SPDX-License-Identifier: Apache-2.0
#include "input_queue.hpp"

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

expected<void, Error> InputQueue::check(const void* value) const noexcept {
  if (!ops_.is_tensor || !record_.tensor) return {};
  const std::string breach =
      contract_breach(*static_cast<const Tensor*>(value), record_.tensor->representation);
  if (breach.empty()) return {};
  return fail(ErrorCode::kProtocolError, "RUN_TENSOR_CONTRACT_BROKEN",
              "input " + record_.name + " received a tensor of " + breach +
                  "; change the producer or this input's expects_tensor()");
}

expected<void, Error> InputQueue::move_head_to(SampleCache& cache) noexcept {
  const EdgeQueue::Front front = edge_->front();
  WEFTLINE_TRY(check(front.value));
  note_head_taken();
  const FlowStamp* const stamp = edge_->front_stamp();
  cache.push_back(front.value, true, *front.metadata);
  if (stamp != nullptr) cache.stamp(cache.number_of(cache.size() - 1)) = *stamp;
  edge_->pop();
  return {};
}

expected<std::int64_t, Error> InputQueue::capture_of_head(std::string_view needed_by) noexcept {
  const SampleMetadata& metadata = *edge_->front().metadata;
  if (metadata.capture) return metadata.capture->timestamp_ns;
  return fail(ErrorCode::kProtocolError, "RUN_SAMPLE_WITHOUT_CAPTURE_TIME",
              "input " + record_.name + " received sample " + std::to_string(metadata.sequence) +
                  " without a capture time, which " + std::string(needed_by) +
                  " needs; its producer sets EmitOptions::capture_time");
}

}  // namespace weftline::runtime
