// SPDX-License-Identifier: Apache-2.0
#include "cuda_fence_words.hpp"

#include <algorithm>
#include <array>

#include "cuda_device.hpp"

namespace weftline::cuda_streams {
namespace {

/// CUDA takes up to 255 operations in one call; this many fit on the stack without a thought, and
/// beyond sixteen there is little left to save.
constexpr std::size_t kBatch = 32;

}  // namespace

CudaFenceWords::CudaFenceWords(CudaDevice& device) noexcept : FenceWords(device), device_(device) {}

expected<std::uintptr_t, Error> CudaFenceWords::do_device_address(std::uint64_t* place) {
  const CurrentContext current = device_.enter();
  void* address = nullptr;
  WEFTLINE_TRY(
      device_.check(cudaHostGetDevicePointer(&address, place, 0), "cudaHostGetDevicePointer"));
  return reinterpret_cast<std::uintptr_t>(address);
}

expected<void, Error> CudaFenceWords::do_write(CUstream_st* stream,
                                               std::span<const FenceWord> words,
                                               std::uint64_t value) noexcept {
  const CurrentContext current = device_.enter();
  // The default flags put a memory barrier before each write: who sees the word sees what the
  // stream did before.
  if (words.size() == 1) {
    return device_.check(
        device_.driver().stream_write_value_64(stream, device_address(words.front()), value,
                                               CU_STREAM_WRITE_VALUE_DEFAULT),
        "cuStreamWriteValue64");
  }
  std::array<CUstreamBatchMemOpParams, kBatch> operations{};
  while (!words.empty()) {
    const std::size_t count = std::min(words.size(), kBatch);
    for (std::size_t i = 0; i < count; ++i) {
      operations[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
      operations[i].writeValue.address = device_address(words[i]);
      operations[i].writeValue.value64 = value;
      operations[i].writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
    }
    WEFTLINE_TRY(device_.check(device_.driver().stream_batch_mem_op(
                                   stream, static_cast<unsigned int>(count), operations.data(), 0),
                               "cuStreamBatchMemOp"));
    words = words.subspan(count);
  }
  return {};
}

expected<void, Error> CudaFenceWords::do_wait(CUstream_st* stream, FenceWord word,
                                              std::uint64_t value) noexcept {
  const CurrentContext current = device_.enter();
  // CUDA's "greater or equal" is the signed difference, as fence_reached().
  return device_.check(device_.driver().stream_wait_value_64(stream, device_address(word), value,
                                                             CU_STREAM_WAIT_VALUE_GEQ),
                       "cuStreamWaitValue64");
}

}  // namespace weftline::cuda_streams
