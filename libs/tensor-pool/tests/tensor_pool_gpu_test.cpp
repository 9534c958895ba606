// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/testing/bounded_wait.hpp"
#include "weftline/testing/stream_gate.hpp"

#ifdef WEFTLINE_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace weftline {
namespace {

constexpr std::uint64_t kFrameBytes = 1 << 20;
constexpr std::array<std::int64_t, 1> kFrameShape{kFrameBytes};
constexpr TensorLoanRequest kFrameRequest{.shape = kFrameShape, .dtype = kByte};

std::shared_ptr<Device> cuda_or_skip() {
  auto device = open_device({DeviceKind::kCuda, 0});
  if (!device) SKIP("no CUDA device to test on: " + device.error().to_string());
  return *device;
}

TensorPool frame_pool(const std::shared_ptr<Device>& device, MemoryKind kind, std::uint32_t slots) {
  return must(TensorPool::build({.name = "gpu.frame",
                                 .memory_kind = kind,
                                 .device = device,
                                 .slot_bytes = kFrameBytes,
                                 .slot_count = slots}));
}

void await_slot(TensorPool& pool) {
  if (!testing::eventually([&] { return pool.has_free_slot(); })) FAIL("no slot came back");
}

Tensor filled_tensor(TensorPool& pool, StreamRef producer, std::byte value) {
  TensorOutputLoan loan = must(pool.allocate(kFrameRequest, producer));
  must(loan.write_and_commit(producer, [&](void* data, std::uint64_t bytes) {
    return producer.device()->fill(producer, data, value, bytes);
  }));
  return must(publish(std::move(loan)));
}

bool all_equal(const std::byte* bytes, std::byte value) {
  return std::all_of(bytes, bytes + kFrameBytes, [=](std::byte b) { return b == value; });
}

TEST_CASE("three consumers copy every frame whole from a CUDA pool that is reused all the time") {
  constexpr std::size_t kFrames = 64;
  constexpr std::size_t kConsumers = 3;
  const auto device = cuda_or_skip();
  const Stream producer = must(device->create_stream({}));
  std::array<Stream, kConsumers> streams;
  std::array<MemoryBlock, kConsumers> copies;
  for (std::size_t i = 0; i < kConsumers; ++i) {
    streams[i] = must(device->create_stream({}));
    copies[i] = must(device->allocate(MemoryKind::kPinnedHost, kFrames * kFrameBytes));
  }
  {
    TensorPool pool = frame_pool(device, MemoryKind::kCudaDevice, 2);
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      await_slot(pool);
      const Tensor tensor = filled_tensor(pool, producer.ref(), std::byte(frame + 1));
      for (std::size_t i = 0; i < kConsumers; ++i) {
        must(tensor.prepare_for_consumer(streams[i].ref()));
        must(device->copy(streams[i].ref(), copies[i].data() + frame * kFrameBytes, tensor.data(),
                          kFrameBytes));
      }
    }
    CHECK(pool.usage().host_waits.total() == 0);
    CHECK(pool.usage().loans == kFrames);
  }
  std::size_t whole = 0;
  for (std::size_t i = 0; i < kConsumers; ++i) {
    must(device->synchronize(streams[i].ref()));
    for (std::size_t frame = 0; frame < kFrames; ++frame) {
      whole += all_equal(copies[i].data() + frame * kFrameBytes, std::byte(frame + 1));
    }
  }
  CHECK(whole == kFrames * kConsumers);
}

TEST_CASE("a CUDA slot stays out of use until its consumer's stream has passed") {
  const auto device = cuda_or_skip();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  TensorPool pool = frame_pool(device, MemoryKind::kCudaDevice, 1);
  testing::StreamGate gate(consumer.ref());
  {
    const Tensor tensor = filled_tensor(pool, producer.ref(), std::byte{1});
    must(tensor.prepare_for_consumer(consumer.ref()));
  }
  must(device->synchronize(producer.ref()));
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(pool.has_free_slot());
  CHECK(pool.waits_for_device());
  CHECK(refusal(pool.allocate(kFrameRequest, producer.ref())).token == "TENSOR_POOL_EXHAUSTED");
  gate.open();
  await_slot(pool);
  CHECK(pool.usage().in_use == 0);
}

TEST_CASE(
    "a CUDA slot whose last handle drops in a host function comes back, and so does its pool") {
  const auto device = cuda_or_skip();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  const auto drop_on = [&](const Stream& stream, std::optional<Tensor>& tensor) {
    must(device->launch_host(stream.ref(), [held = &tensor] { held->reset(); }));
    must(device->synchronize(stream.ref()));
  };
  std::atomic<bool> ended{false};
  std::optional<TensorPool> pool = must(TensorPool::build(
      {.name = "gpu.frame",
       .memory_kind = MemoryKind::kCudaDevice,
       .device = device,
       .slot_bytes = kFrameBytes,
       .slot_count = 1,
       .keep_alive = std::shared_ptr<const void>(&ended, [&](const void*) { ended = true; })}));
  std::optional<Tensor> tensor;
  for (int round = 0; round < 3; ++round) {
    tensor = filled_tensor(*pool, producer.ref(), std::byte{1});
    must(tensor->prepare_for_consumer(consumer.ref()));
    drop_on(consumer, tensor);
    testing::StreamGate gate(consumer.ref());
    CHECK_FALSE(pool->has_free_slot());
    gate.open();
    await_slot(*pool);
    CHECK(pool->usage().quarantined == 0);
  }
  tensor = filled_tensor(*pool, producer.ref(), std::byte{1});
  must(tensor->prepare_for_consumer(consumer.ref()));
  pool.reset();
  CHECK_FALSE(ended);
  drop_on(consumer, tensor);
  CHECK(testing::eventually([&] { return ended.load(); }));
}

TEST_CASE("host readers see what a CUDA stream wrote into pinned and managed memory") {
  const auto device = cuda_or_skip();
  const Stream producer = must(device->create_stream({}));
  for (const MemoryKind kind : {MemoryKind::kPinnedHost, MemoryKind::kCudaManaged}) {
    CAPTURE(memory_kind_name(kind));
    TensorPool pool = frame_pool(device, kind, 1);
    testing::StreamGate gate(producer.ref());
    const Tensor tensor = filled_tensor(pool, producer.ref(), std::byte{0x5a});
    // A wait is counted before it blocks, so the write is still held back when it begins.
    std::jthread opener([&] {
      static_cast<void>(testing::eventually([&] { return pool.usage().host_waits.total() == 1; }));
      gate.open();
    });
    must(tensor.prepare_for_consumer({}));
    CHECK(all_equal(tensor.data_as<std::byte>(), std::byte{0x5a}));
    CHECK(pool.usage().host_waits.streamless_consumer == 1);
    must(tensor.synchronize_for_host());
    CHECK(pool.usage().host_waits.total() == 1);
  }
}

TEST_CASE("device tensors are copied to plain host memory, blocking and not") {
  const auto device = cuda_or_skip();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  TensorPool pool = frame_pool(device, MemoryKind::kCudaDevice, 1);
  std::vector<std::byte> bytes(kFrameBytes);
  const Tensor tensor = filled_tensor(pool, producer.ref(), std::byte{0x77});
  must(tensor.copy_to_host(bytes.data(), kFrameBytes, consumer.ref()));
  CHECK(all_equal(bytes.data(), std::byte{0x77}));
  CHECK(pool.usage().host_waits.copy_to_host == 1);

  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  must(tensor.copy_to_host_async(bytes.data(), kFrameBytes, consumer.ref()));
  must(device->synchronize(consumer.ref()));
  CHECK(all_equal(bytes.data(), std::byte{0x77}));
}

TEST_CASE("loans given up at any step on a CUDA stream leave the pool full") {
  const auto device = cuda_or_skip();
  const Stream producer = must(device->create_stream({}));
  TensorPool pool = frame_pool(device, MemoryKind::kCudaDevice, 3);
  {
    const TensorOutputLoan loaned = must(pool.allocate(kFrameRequest, producer.ref()));
    TensorOutputLoan writing = must(pool.allocate(kFrameRequest, producer.ref()));
    TensorWriteGuard guard = must(writing.write(producer.ref()));
    must(device->fill(producer.ref(), guard.data(), std::byte{1}, guard.byte_size()));
    TensorOutputLoan committed = must(pool.allocate(kFrameRequest, producer.ref()));
    must(committed.write_and_commit(producer.ref(), [](void*, std::uint64_t) {}));
  }
  std::vector<TensorOutputLoan> all;
  for (int i = 0; i < 3; ++i) {
    await_slot(pool);
    all.push_back(must(pool.allocate(kFrameRequest, producer.ref())));
  }
  CHECK(pool.usage().quarantined == 0);
}

#ifdef WEFTLINE_WITH_CUDA
TEST_CASE("a pool works on while another thread captures a graph, and leaves the capture whole") {
  constexpr std::size_t kFrames = 16;
  const auto device = cuda_or_skip();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  const Stream captured = must(device->create_stream({}));
  const MemoryBlock copy = must(device->allocate(MemoryKind::kPinnedHost, kFrameBytes));
  TensorPool pool = frame_pool(device, MemoryKind::kCudaDevice, 2);
  std::atomic<bool> captures{false};
  std::atomic<bool> frames_done{false};
  cudaError_t begun = cudaErrorUnknown;
  cudaError_t ended = cudaErrorUnknown;
  cudaGraph_t graph = nullptr;
  {
    const std::jthread capturer([&] {
      static_cast<void>(device->make_current());
      begun = cudaStreamBeginCapture(captured.ref().get(), cudaStreamCaptureModeGlobal);
      captures = true;
      static_cast<void>(testing::eventually([&] { return frames_done.load(); }));
      ended = cudaStreamEndCapture(captured.ref().get(), &graph);
    });
    if (testing::eventually([&] { return captures.load(); })) {
      try {
        for (std::size_t frame = 0; frame < kFrames; ++frame) {
          await_slot(pool);
          const Tensor tensor = filled_tensor(pool, producer.ref(), std::byte(frame + 1));
          must(tensor.prepare_for_consumer(consumer.ref()));
          must(device->copy(consumer.ref(), copy.data(), tensor.data(), kFrameBytes));
        }
        await_slot(pool);
      } catch (...) {
        frames_done = true;  // the test fails: the capture ends all the same
        throw;
      }
    }
    frames_done = true;
  }
  CHECK(begun == cudaSuccess);
  CHECK(ended == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(pool.usage().loans == kFrames);
  must(device->synchronize(consumer.ref()));
  CHECK(all_equal(copy.data(), std::byte(kFrames)));
}
#endif

}  // namespace
}  // namespace weftline
