// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/tensor/const_buffer.hpp"
#include "weftline/tensor/retirement_worker.hpp"

namespace weftline {

class BufferBacking;  // private to tensor-pool

/// Memory of one's own, outside any pool: allocated, written by its one owner, then shared for
/// reading or dropped. Move-only; belongs to one thread. For what is made once or rarely: each
/// allocation is cold. An empty buffer (moved-from, shared) has no bytes.
class MemoryBuffer {
 public:
  /// Distinct consumer streams that a buffer remembers, unless its options say otherwise: one more
  /// is refused.
  static constexpr std::uint32_t kMaximumFanoutReleaseStreams = 8;
  struct Options {
    /// Each has an event of its own. At most kMaximumReleaseStreams.
    std::uint32_t max_fanout_release_streams{kMaximumFanoutReleaseStreams};
  };

  /// Plain host memory. kResourceExhausted (HOST_MEMORY_EXHAUSTED) names the size.
  [[nodiscard]] static expected<MemoryBuffer, Error> allocate_host(std::uint64_t bytes);
  /// Pinned, device or managed memory of `device`, given back by `worker`. kInvalidArgument
  /// (BUFFER_OPTIONS) names the argument; other errors are the device's.
  [[nodiscard]] static expected<MemoryBuffer, Error> allocate(std::shared_ptr<Device> device,
                                                              MemoryKind kind, std::uint64_t bytes,
                                                              const RetirementWorker& worker,
                                                              const Options& options);
  [[nodiscard]] static expected<MemoryBuffer, Error> allocate(std::shared_ptr<Device> device,
                                                              MemoryKind kind, std::uint64_t bytes,
                                                              const RetirementWorker& worker) {
    return allocate(std::move(device), kind, bytes, worker, Options{});
  }

  MemoryBuffer(MemoryBuffer&& other) noexcept : backing_(std::exchange(other.backing_, nullptr)) {}
  MemoryBuffer& operator=(MemoryBuffer&& other) noexcept;
  /// Gives the memory back when the streams registered on it have passed; never blocks.
  ~MemoryBuffer();

  [[nodiscard]] bool valid() const noexcept { return backing_ != nullptr; }
  [[nodiscard]] void* data() noexcept;
  [[nodiscard]] std::uint64_t byte_size() const noexcept;
  [[nodiscard]] MemoryKind memory_kind() const noexcept;
  [[nodiscard]] Device* device() const noexcept;

  /// For work that is queued on the bytes before they are shared: as for Tensor. An empty buffer is
  /// kInvalidArgument (BUFFER_EMPTY).
  expected<void, Error> set_deallocation_stream(StreamRef stream) noexcept;
  /// Ends writing for good. `writer` is the stream that wrote, whose work queued until now makes
  /// the bytes ready; null when a host did. Never blocks. Refused, and the buffer stays as it was:
  /// an empty one, kInvalidArgument (BUFFER_EMPTY); a stream of another device, kNotSupported
  /// (TENSOR_STREAM_FOREIGN), or the default one, kInvalidArgument (TENSOR_STREAM_REQUIRED).
  [[nodiscard]] expected<ConstBuffer, Error> share(StreamRef writer) && noexcept;

 private:
  explicit MemoryBuffer(BufferBacking* backing) noexcept : backing_(backing) {}
  BufferBacking* backing_{nullptr};
};

}  // namespace weftline
