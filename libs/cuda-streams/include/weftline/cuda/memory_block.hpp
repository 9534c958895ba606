// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"

namespace weftline {

class Device;

inline constexpr std::size_t kMemoryBlockAlignment = 256;

/// Owns one allocation, aligned to 256 bytes, contents unspecified. Move-only; freed on
/// destruction, which the owner must not let happen while work on the bytes is pending. On CUDA
/// freeing may block until other work of the device is done.
class MemoryBlock {
 public:
  MemoryBlock() noexcept = default;
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;
  ~MemoryBlock();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t byte_size() const noexcept { return bytes_; }
  [[nodiscard]] MemoryKind kind() const noexcept { return kind_; }
  [[nodiscard]] Device* device() const noexcept { return device_.get(); }

 private:
  friend class Device;
  friend class SharedMemory;
  friend expected<MemoryBlock, Error> allocate_host_memory(std::uint64_t bytes);
  /// A null device means plain host memory.
  MemoryBlock(std::shared_ptr<Device> device, MemoryKind kind, std::byte* data,
              std::uint64_t bytes) noexcept
      : device_(std::move(device)), kind_(kind), data_(data), bytes_(bytes) {}

  std::shared_ptr<Device> device_{};
  MemoryKind kind_{MemoryKind::kUnknown};
  std::byte* data_{nullptr};
  std::uint64_t bytes_{0};
};

/// Plain host memory (MemoryKind::kHost), touched so that no page fault is left for the data path.
/// 0 bytes give a block without data. kResourceExhausted (HOST_MEMORY_EXHAUSTED) names the size and
/// what is available: more would be granted by Linux, and end the process when it is touched.
[[nodiscard]] expected<MemoryBlock, Error> allocate_host_memory(std::uint64_t bytes);

}  // namespace weftline
