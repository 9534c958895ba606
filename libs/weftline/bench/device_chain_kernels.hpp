// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

struct CUstream_st;

namespace weftline::bench {

/// Queues a kernel of one thread that lasts for `nanoseconds`, reads `*from` (null: nothing) and
/// writes one more into `*to` (null: nowhere).
void launch_link(CUstream_st* stream, const void* from, void* to, std::uint32_t nanoseconds);
/// Its address, for `Device::preload()`.
const void* link_kernel();

}  // namespace weftline::bench
