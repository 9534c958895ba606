// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include <unistd.h>

#include <cstring>
#include <new>
#include <string>

#include "weftline/cuda/memory_block.hpp"

namespace weftline::cuda_streams {
namespace {

constexpr std::align_val_t kAlignment{kMemoryBlockAlignment};
/// Not zero, so that a read before the first write is easy to see.
constexpr int kUnwritten = 0xA5;

std::uint64_t physical_memory_bytes() noexcept {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

expected<std::byte*, Error> allocate_touched(std::uint64_t bytes) {
  // Asked first: Linux grants more than there is, and touching it would end the process.
  const std::uint64_t available = physical_memory_bytes();
  void* data = bytes <= available ? ::operator new(bytes, kAlignment, std::nothrow) : nullptr;
  if (data == nullptr) {
    return fail(ErrorCode::kResourceExhausted, "HOST_MEMORY_EXHAUSTED",
                "cannot allocate " + std::to_string(bytes) +
                    " bytes of host memory: this machine has " + std::to_string(available) +
                    " bytes in all. Use smaller or fewer buffers, or end other programs.");
  }
  std::memset(data, kUnwritten, bytes);
  return static_cast<std::byte*>(data);
}

void free_touched(std::byte* data) noexcept { ::operator delete(data, kAlignment); }

}  // namespace weftline::cuda_streams
