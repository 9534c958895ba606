// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace weftline {

/// A look at a spin source's flag, on its lane, again and again: must neither block nor allocate.
/// What it looks at lives until the operator's stop() has returned.
struct SpinProbe {
  bool (*look)(const void* context) noexcept {nullptr};
  const void* context{nullptr};

  [[nodiscard]] static SpinProbe of(const std::atomic<bool>& flag) noexcept {
    return {[](const void* it) noexcept {
              return static_cast<const std::atomic<bool>*>(it)->load(std::memory_order_acquire);
            },
            &flag};
  }
};

}  // namespace weftline
