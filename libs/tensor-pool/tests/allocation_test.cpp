// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <optional>

#include "pool_fixture.hpp"
#include "weftline/cuda/host_task.hpp"
#include "weftline/testing/counted_new.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;

/// Allocations on any thread while `path` runs.
template <class Path>
std::uint64_t allocations_in(Path&& path) {
  const std::uint64_t before = testing::allocations_of_all_threads();
  path();
  return testing::allocations_of_all_threads() - before;
}

// Rule 2.
TEST_CASE("a round of a host tensor allocates nothing, refusals included") {
  TensorPool pool = must_build(host_options(2));
  const std::uint64_t count = allocations_in([&] {
    for (int round = 0; round < 100; ++round) {
      Tensor first = publish_one(pool);
      Tensor second = publish_one(pool);
      const Tensor copied = first;
      must(copied.prepare_for_consumer({}));
      if (pool.has_free_slot() || pool.allocate(kSmall, {}).has_value()) std::abort();
      if (pool.allocate({}, {}).has_value()) std::abort();
      if (copied.mutable_data().has_value()) std::abort();
    }
  });
  CHECK(count == 0);
  CHECK(pool.usage().loans == 200);
}

TEST_CASE("a round of a device tensor with three consumers allocates nothing") {
  const auto device = ScriptedDevice::make();
  device->log_calls(false);
  const std::array<Stream, 4> streams{
      must(device->create_stream({})), must(device->create_stream({})),
      must(device->create_stream({})), must(device->create_stream({}))};
  TensorPool pool = must_build(device_options(device, 2));
  std::array<std::byte, 16> bytes{};
  const auto pass_all = [&] {
    for (const Stream& stream : streams) device->pass(stream.ref());
  };
  const std::uint64_t count = allocations_in([&] {
    for (int round = 0; round < 100; ++round) {
      {
        const Tensor tensor = publish_one(pool, streams[0].ref());
        for (std::size_t i = 1; i < 4; ++i) {
          const Tensor copied = tensor;
          must(copied.prepare_for_consumer(streams[i].ref()));
          must(copied.copy_to_host_async(bytes.data(), bytes.size(), streams[i].ref()));
        }
        must(tensor.copy_to_host(bytes.data(), bytes.size(), streams[1].ref()));
        must(tensor.synchronize_for_host());
        if (tensor.enqueue_ready_wait({}).has_value()) std::abort();
      }
      { const TensorOutputLoan abandoned = must(pool.allocate(kSmall, streams[0].ref())); }
      pass_all();
      std::optional<Tensor> held = publish_one(pool, streams[0].ref());
      must(held->prepare_for_consumer(streams[1].ref()));
      HostTask([from = &held] { from->reset(); })();
      if (pool.has_free_slot(2)) std::abort();  // records
      pass_all();
      static_cast<void>(pool.waits_for_device());
      static_cast<void>(pool.usage());
    }
  });
  CHECK(count == 0);
  CHECK(pool.usage().loans == 300);
  CHECK(pool.usage().quarantined == 0);
}

TEST_CASE("a fused round allocates nothing, surprises included") {
  const auto device = ScriptedDevice::make();
  device->log_calls(false);
  const Stream fused = must(device->create_stream({}));
  const Stream other = must(device->create_stream({}));
  TensorPoolOptions options = device_options(device, 3, MemoryKind::kPinnedHost);
  options.fused_stream = fused.ref();
  TensorPool pool = must_build(options);
  const std::uint64_t count = allocations_in([&] {
    for (int round = 0; round < 100; ++round) {
      {
        const Tensor tensor = publish_one(pool, fused.ref());
      }
      {
        const Tensor tensor = publish_one(pool, fused.ref());
        must(tensor.prepare_for_consumer(fused.ref()));
        must(tensor.prepare_for_consumer(other.ref()));
      }
      TensorOutputLoan loan = must(pool.allocate(kSmall, fused.ref()));
      static_cast<void>(loan.write({}));
      device->pass(fused.ref());
      device->pass(other.ref());
      static_cast<void>(pool.has_free_slot());
    }
  });
  CHECK(count == 0);
}

}  // namespace
}  // namespace weftline
