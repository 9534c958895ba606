// SPDX-License-Identifier: Apache-2.0
#include "pipeline_kernels.hpp"

namespace weftline::bench {
namespace {

__device__ std::uint64_t now_ns() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void step(std::uint32_t* data, std::uint32_t nanoseconds) {
  if (nanoseconds != 0) {
    const std::uint64_t start = now_ns();
    while (now_ns() - start < nanoseconds) {
    }
  }
  *data += 1;
}

}  // namespace

void launch_step(CUstream_st* stream, void* data, std::uint32_t nanoseconds) {
  step<<<1, 1, 0, stream>>>(static_cast<std::uint32_t*>(data), nanoseconds);
}

const void* step_kernel() { return reinterpret_cast<const void*>(&step); }

}  // namespace weftline::bench
