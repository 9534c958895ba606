// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct CUstream_st;

namespace weftline::bench {

/// Queues a kernel of one thread that touches `*data` and lasts for `nanoseconds`; 0 for one that
/// ends at once.
void launch_step(CUstream_st* stream, void* data, std::uint32_t nanoseconds);
/// Its address, for `Device::preload()`.
const void* step_kernel();

}  // namespace weftline::bench
