// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include <cstring>
#include <new>
#include <string>

#include "available_memory.hpp"
#include "weftline/cuda/memory_block.hpp"

namespace weftline::cuda_streams {
namespace {

constexpr std::align_val_t kAlignment{kMemoryBlockAlignment};
/// Not zero, so that a read before the first write is easy to see.
constexpr int kUnwritten = 0xA5;

}  // namespace

expected<std::byte*, Error> allocate_touched(std::uint64_t bytes) {
  return allocate_touched(bytes, available_host_memory(bytes));
}

expected<std::byte*, Error> allocate_touched(std::uint64_t bytes, std::uint64_t available) {
  // Asked first: Linux grants more than there is, and touching it would end the process.
  void* data = bytes <= available ? ::operator new(bytes, kAlignment, std::nothrow) : nullptr;
  if (data == nullptr) {
    return fail(
        ErrorCode::kResourceExhausted, "HOST_MEMORY_EXHAUSTED",
        "cannot allocate " + std::to_string(bytes) +
            " bytes of host memory: " + std::to_string(available) +
            " bytes are available to this process (MemAvailable of /proc/meminfo, or what "
            "its memory cgroup has left). Use smaller or fewer buffers, end other programs, "
            "or raise the container's memory limit.");
  }
  mark_unwritten(static_cast<std::byte*>(data), bytes);
  return static_cast<std::byte*>(data);
}

void mark_unwritten(std::byte* data, std::uint64_t bytes) noexcept {
  std::memset(data, kUnwritten, bytes);
}

void free_touched(std::byte* data) noexcept { ::operator delete(data, kAlignment); }

}  // namespace weftline::cuda_streams
