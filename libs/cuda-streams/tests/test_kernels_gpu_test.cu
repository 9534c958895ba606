// SPDX-License-Identifier: Apache-2.0
#include "test_kernels.hpp"
#include "weftline/cuda/interop.hpp"  // compiles in device code, too

namespace weftline::testing {
namespace {

__global__ void add_one(std::uint32_t* values, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] += 1;
  }
}

__global__ void set_one(std::uint32_t* value) { *value = 1; }

__global__ void store(volatile std::uint32_t* where) { *where = 1; }

}  // namespace

void launch_add_one(CUstream_st* stream, std::uint32_t* values, std::uint32_t count) {
  constexpr std::uint32_t kThreads = 256;
  add_one<<<(count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(values, count);
}

void launch_set_one(CUstream_st* stream, std::uint32_t* value) {
  set_one<<<1, 1, 0, stream>>>(value);
}

const void* set_one_kernel() { return reinterpret_cast<const void*>(&set_one); }

void launch_too_wide(CUstream_st* stream) { add_one<<<1, 4096, 0, stream>>>(nullptr, 0); }

void launch_fault(CUstream_st* stream) { store<<<1, 1, 0, stream>>>(nullptr); }

}  // namespace weftline::testing
