// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include <unistd.h>

#include <string>

#include "device_under_test.hpp"
#include "weftline/cuda/memory_block.hpp"

namespace weftline::testing {

TEST_CASE("host memory is aligned, writable and knows its size; the impossible is refused") {
  const MemoryBlock block = must(allocate_host_memory(100'001));
  CHECK(reinterpret_cast<std::uintptr_t>(block.data()) % kMemoryBlockAlignment == 0);
  CHECK(block.byte_size() == 100'001);
  CHECK(block.kind() == MemoryKind::kHost);
  CHECK(block.device() == nullptr);
  block.data()[100'000] = std::byte{1};

  CHECK(must(allocate_host_memory(0)).data() == nullptr);
  const auto refused = allocate_host_memory(std::uint64_t{1} << 60);
  require_refused(refused, ErrorCode::kResourceExhausted, "HOST_MEMORY_EXHAUSTED");
  CHECK(refused.error().message.find("1152921504606846976") != std::string::npos);
}

TEST_CASE("twice the machine's memory is refused before it is touched") {
  const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  require_refused(allocate_host_memory(2 * physical), ErrorCode::kResourceExhausted,
                  "HOST_MEMORY_EXHAUSTED");
}

TEST_CASE("one byte more than is available is refused with both numbers, all of it is granted") {
  const auto refused = cuda_streams::allocate_touched(4097, 4096);
  require_refused(refused, ErrorCode::kResourceExhausted, "HOST_MEMORY_EXHAUSTED");
  CHECK(refused.error().message.find("4097 bytes") != std::string::npos);
  CHECK(refused.error().message.find("4096 bytes are available") != std::string::npos);
  cuda_streams::free_touched(must(cuda_streams::allocate_touched(4096, 4096)));
}

TEST_CASE("fresh memory is nowhere zero, so that a missing write shows") {
  const MemoryBlock block = must(allocate_host_memory(10'000));
  CHECK(std::none_of(block.data(), block.data() + 10'000,
                     [](std::byte byte) { return byte == std::byte{0}; }));
}

}  // namespace weftline::testing
