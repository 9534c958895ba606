// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {

/// A pool whose tensors are written and read on `fused`, as the plan has proven.
struct FusedBench {
  std::shared_ptr<testing::ScriptedDevice> device{testing::ScriptedDevice::make()};
  Stream fused{must(device->create_stream({}))};
  Stream other{must(device->create_stream({}))};
  std::optional<TensorPool> pool{};
  explicit FusedBench(std::uint32_t slots, MemoryKind kind = MemoryKind::kCudaDevice) {
    TensorPoolOptions options = device_options(device, slots, kind);
    options.fused_stream = fused.ref();
    options.max_release_streams = 1;
    pool.emplace(must_build(options));
  }
  Tensor fused_tensor() { return publish_one(*pool, fused.ref()); }
  /// Work on the fused stream that has not passed.
  void queue_work() { must(device->fill(fused.ref(), nullptr, std::byte{0}, 0)); }
  /// Leaves every slot unfenced, with work pending that no event tells about.
  void unfence(std::uint32_t slots) {
    std::vector<Tensor> tensors;
    for (std::uint32_t i = 0; i < slots; ++i) tensors.push_back(fused_tensor());
    queue_work();
    tensors.clear();
    static_cast<void>(device->take_calls());
  }
};

}  // namespace weftline
