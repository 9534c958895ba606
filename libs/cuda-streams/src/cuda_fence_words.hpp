// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "weftline/cuda/fence_words.hpp"

namespace weftline::cuda_streams {

class CudaDevice;

/// Fence words by CUDA's stream memory operations.
class CudaFenceWords final : public FenceWords {
 public:
  explicit CudaFenceWords(CudaDevice& device) noexcept;

 private:
  [[nodiscard]] expected<std::uintptr_t, Error> do_device_address(std::uint64_t* place) override;
  expected<void, Error> do_write(CUstream_st* stream, std::span<const FenceWord> words,
                                 std::uint64_t value) noexcept override;
  expected<void, Error> do_wait(CUstream_st* stream, FenceWord word,
                                std::uint64_t value) noexcept override;

  CudaDevice& device_;
};

}  // namespace weftline::cuda_streams
