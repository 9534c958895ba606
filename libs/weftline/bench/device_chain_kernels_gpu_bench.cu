// SPDX-License-Identifier: Apache-2.0
#include "device_chain_kernels.hpp"

namespace weftline::bench {
namespace {

__device__ std::uint64_t now_ns() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void link(const std::uint32_t* from, std::uint32_t* to, std::uint32_t nanoseconds) {
  const std::uint64_t start = now_ns();
  while (now_ns() - start < nanoseconds) {
  }
  const std::uint32_t value = from != nullptr ? *from : 0;
  if (to != nullptr) *to = value + 1;
}

}  // namespace

void launch_link(CUstream_st* stream, const void* from, void* to, std::uint32_t nanoseconds) {
  link<<<1, 1, 0, stream>>>(static_cast<const std::uint32_t*>(from),
                            static_cast<std::uint32_t*>(to), nanoseconds);
}

const void* link_kernel() { return reinterpret_cast<const void*>(&link); }

}  // namespace weftline::bench
