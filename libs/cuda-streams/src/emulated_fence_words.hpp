// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operation_queue.hpp"
#include "weftline/cuda/fence_words.hpp"

namespace weftline::cuda_streams {

/// Fence words of an emulated device: operations of its streams on plain words.
class EmulatedFenceWords final : public FenceWords {
 public:
  explicit EmulatedFenceWords(Device& device) noexcept : FenceWords(device) {}

 private:
  [[nodiscard]] expected<std::uintptr_t, Error> do_device_address(std::uint64_t* place) override {
    return reinterpret_cast<std::uintptr_t>(place);
  }
  expected<void, Error> do_write(CUstream_st* stream, std::span<const FenceWord> words,
                                 std::uint64_t value) noexcept override {
    for (const FenceWord word : words) {
      as_stream(stream).queue(WriteWordOperation{word, value});
    }
    return {};
  }
  expected<void, Error> do_wait(CUstream_st* stream, FenceWord word,
                                std::uint64_t value) noexcept override {
    as_stream(stream).queue(WaitWordOperation{word, value});
    return {};
  }
};

}  // namespace weftline::cuda_streams
