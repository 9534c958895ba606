// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/cuda/stream_ref.hpp"
#include "weftline/tensor/tensor.hpp"

namespace weftline {

/// A read-only share in the bytes of a MemoryBuffer: one pointer, copied by an atomic increment.
/// The memory is given back after the last share is gone and every stream that was ordered here has
/// passed. Threads, empty handles and errors as for Tensor.
class ConstBuffer {
 public:
  ConstBuffer() noexcept = default;

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(bytes_); }
  [[nodiscard]] const void* data() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::uint64_t byte_size() const noexcept { return bytes_.byte_size(); }
  [[nodiscard]] MemoryKind memory_kind() const noexcept { return bytes_.memory_kind(); }
  [[nodiscard]] Device* device() const noexcept { return bytes_.device(); }

  /// Orders later work on `stream` after the writes, and keeps the bytes until the work queued
  /// there up to the last share's drop has passed. Every stream that reads needs this once; the
  /// first one past the buffer's cap is kResourceExhausted (TENSOR_RELEASE_STREAMS_EXHAUSTED), and
  /// must not read. Nothing for plain host memory. Never blocks.
  expected<void, Error> enqueue_ready_wait(StreamRef stream) const noexcept;
  /// Blocks until the bytes may be read on a host, counted in the worker's usage.
  expected<void, Error> synchronize_for_host() const noexcept {
    return bytes_.synchronize_for_host();
  }
  /// The same bytes as a tensor: uint8, rank 1.
  [[nodiscard]] const Tensor& tensor() const noexcept { return bytes_; }

  /// For MemoryBuffer.
  static ConstBuffer adopt(Tensor bytes) noexcept { return ConstBuffer(std::move(bytes)); }

 private:
  explicit ConstBuffer(Tensor bytes) noexcept : bytes_(std::move(bytes)) {}
  Tensor bytes_{};
};

}  // namespace weftline
