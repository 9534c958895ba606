// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct CUstream_st;

// Kernels for the tests of the CUDA backend. Each call queues one launch and looks at no error.

namespace weftline::testing {

void launch_add_one(CUstream_st* stream, std::uint32_t* values, std::uint32_t count);
/// A kernel that nothing else launches; sets `*value` to 1.
void launch_set_one(CUstream_st* stream, std::uint32_t* value);
/// Its address, for `Device::preload()`.
const void* set_one_kernel();
/// More threads in a block than any device has.
void launch_too_wide(CUstream_st* stream);
/// Writes to address 0, which costs the process its CUDA context.
void launch_fault(CUstream_st* stream);

}  // namespace weftline::testing
