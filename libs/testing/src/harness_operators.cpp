// SPDX-License-Identifier: Apache-2.0
#include "weftline/testing/harness_operators.hpp"

#include "weftline/cuda/device.hpp"
#include "weftline/tensor/tensor_output_loan.hpp"

namespace weftline::testing {

void TensorFeeder::setup(OperatorSpec& spec) {
  std::uint64_t largest = 1;
  std::uint32_t rank = 0;
  for (const Fed<HostTensor>& sample : *samples_) {
    largest = std::max<std::uint64_t>(largest, sample.value.bytes.size());
    rank = std::max(rank, static_cast<std::uint32_t>(sample.value.shape.size()));
  }
  const std::size_t most = std::max<std::size_t>(samples_->size(), 1);
  spec.output(out, "out")
      .produces_tensor({.representation = {.memory_kind = kind_},
                        .bounds = {.max_rank = rank, .max_byte_span = largest},
                        .storage = TensorOutputStorage::kRuntimePool})
      .max_emits_per_compute(static_cast<std::uint32_t>(most));
}

expected<void, Error> TensorFeeder::compute(ExecutionContext& context) {
  const std::int64_t now_ns = context.activation_time().timestamp_ns;
  for (; next_ < samples_->size(); ++next_) {
    const Fed<HostTensor>& sample = (*samples_)[next_];
    if (sample.options.at.count() > now_ns) return {};
    const HostTensor& tensor = sample.value;
    WEFTLINE_ASSIGN(auto loan, out.allocate_tensor({.shape = tensor.shape, .dtype = tensor.dtype}));
    if (loan.byte_size() != tensor.bytes.size()) {
      return fail(ErrorCode::kInvalidArgument, "HARNESS_TENSOR_SIZE",
                  "tensor " + std::to_string(next_) + " has " +
                      std::to_string(tensor.bytes.size()) + " bytes, its shape and dtype say " +
                      std::to_string(loan.byte_size()));
    }
    const StreamRef stream = kind_ == MemoryKind::kHost ? StreamRef{} : context.cuda_stream();
    WEFTLINE_TRY(loan.write_and_commit(
        stream, [&](void* data, std::uint64_t bytes) -> expected<void, Error> {
          if (stream) return stream.device()->copy(stream, data, tensor.bytes.data(), bytes);
          std::memcpy(data, tensor.bytes.data(), bytes);
          return {};
        }));
    WEFTLINE_TRY(out.emit(std::move(loan),
                          Feeder<std::uint64_t>::emit_options(sample.options, context.clock())));
  }
  return out.close();
}

expected<void, Error> TensorCollector::compute(ExecutionContext& context) {
  WEFTLINE_ASSIGN(const auto sample, in.receive());
  const Tensor& tensor = sample.data;
  HostTensor copied{tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()}, {}};
  copied.bytes.resize(tensor.byte_size());
  WEFTLINE_TRY(
      tensor.copy_to_host(copied.bytes.data(), copied.bytes.size(), context.cuda_stream()));
  samples_->push_back({std::move(copied), sample.metadata});
  return {};
}

}  // namespace weftline::testing
