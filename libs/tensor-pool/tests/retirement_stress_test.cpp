// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "in_step.hpp"
#include "pool_fixture.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/tensor/memory_buffer.hpp"
#include "weftline/testing/bounded_wait.hpp"

namespace weftline {
namespace {

constexpr std::uint64_t kBytes = 4096;

// A buffer that is given back early shows as another buffer's bytes, or as a use of freed memory.
TEST_CASE("buffers dropped by several threads are all given back, each after its last reader") {
  constexpr std::size_t kThreads = 3;
  const auto device = must(open_device({DeviceKind::kEmulated, 0}));
  RetirementWorker worker = must(RetirementWorker::start());
  std::array<Stream, kThreads> streams;
  for (Stream& stream : streams) stream = must(device->create_stream({}));
  std::vector<std::byte> copies(kThreads * kBytes);
  std::atomic<int> wrong{0};
  std::atomic<int> failed{0};
  std::atomic<std::uint64_t> made{0};
  {
    std::vector<std::jthread> threads;
    for (std::size_t index = 0; index < kThreads; ++index) {
      threads.emplace_back([&, index] {
        const StreamRef stream = streams[index].ref();
        for (Rounds rounds(300); rounds.next();) {
          auto buffer = MemoryBuffer::allocate(device, MemoryKind::kCudaDevice, kBytes, worker);
          if (!buffer) return void(++failed);
          ++made;
          const auto value = std::byte(index * 64 + rounds.begun() % 64);
          if (!device->fill(stream, buffer->data(), value, kBytes)) return void(++failed);
          auto shared = std::move(*buffer).share(stream);
          if (!shared) return void(++failed);
          // Read by the next thread's stream as well, which is the last to be registered.
          std::byte* const copy = copies.data() + index * kBytes;
          if (!shared->enqueue_ready_wait(streams[(index + 1) % kThreads].ref()) ||
              !shared->enqueue_ready_wait(stream) ||
              !device->copy(stream, copy, shared->data(), kBytes) ||
              !device->launch_host(stream, [copy, value, &wrong] {
                for (std::size_t i = 0; i < kBytes; ++i) wrong += copy[i] != value;
              })) {
            return void(++failed);
          }
        }
      });
    }
  }
  CHECK(failed == 0);
  CHECK(testing::eventually([&] { return worker.usage().retired == made; }));
  CHECK(wrong == 0);
  CHECK(worker.usage().waiting == 0);
  CHECK(worker.usage().unresolved == 0);
}

}  // namespace
}  // namespace weftline
