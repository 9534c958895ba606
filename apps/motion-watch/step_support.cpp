// SPDX-License-Identifier: Apache-2.0
#include "step_support.hpp"

#include <algorithm>

namespace motion_watch {

weftline::MemoryBlock own_memory(weftline::LifecycleContext& context, std::uint64_t bytes) {
  const std::uint64_t wanted = std::max<std::uint64_t>(bytes, 1);
  auto block = context.device() != nullptr
                   ? context.device()->allocate(weftline::MemoryKind::kCudaDevice, wanted)
                   : weftline::allocate_host_memory(wanted);
  if (!block) throw weftline::RuntimeError(block.error());
  return std::move(*block);
}

void preload_kernels(weftline::LifecycleContext& context) {
  if (context.device() == nullptr) return;
  if (auto loaded = context.device()->preload(pixel_kernels()); !loaded) {
    throw weftline::RuntimeError(loaded.error());
  }
}

}  // namespace motion_watch
