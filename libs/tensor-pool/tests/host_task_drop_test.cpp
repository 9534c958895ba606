// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <memory>
#include <optional>

#include "foreign_tensor.hpp"
#include "pool_fixture.hpp"
#include "weftline/cuda/emulated_stepper.hpp"
#include "weftline/cuda/host_task.hpp"
#include "weftline/cuda/open_device.hpp"
#include "weftline/tensor/dlpack_import.hpp"
#include "weftline/tensor/memory_buffer.hpp"
#include "weftline/testing/bounded_wait.hpp"
#include "weftline/testing/stream_gate.hpp"

// The last owner of a tensor goes away inside a host task on a stream, where no device may be
// called. One thread runs all host tasks of the stepper, as CUDA's does; so here a gate is never
// closed while another task has to run.

namespace weftline {
namespace {

using testing::eventually;
using testing::StreamGate;

std::shared_ptr<Device> any_emulated_device() {
  DeviceOptions options;
  if (GENERATE(false, true)) {
    INFO("with a stepper");
    options.emulated.stepper = std::make_shared<EmulatedStepper>();
  }
  return must(open_device({DeviceKind::kEmulated, 0}, options));
}

/// Lets go of what `held` holds in a host task on `stream`, and returns when that is done.
template <class Held>
void drop_in_host_task(StreamRef stream, std::optional<Held>& held) {
  std::atomic<bool> dropped{false};
  must(stream.device()->launch_host(stream, [what = &held, done = &dropped] {
    what->reset();
    done->store(true);
  }));
  REQUIRE(eventually([&] { return dropped.load(); }));
}

struct DropBench {
  std::shared_ptr<Device> device{any_emulated_device()};
  Stream producer{must(device->create_stream({}))};
  Stream consumer{must(device->create_stream({}))};
  TensorPool pool{must_build(device_options(device, 1))};
};

void check_that_slot_waits_for(TensorPool& pool, StreamGate& gate) {
  gate.wait_until_reached();
  CHECK_FALSE(pool.has_free_slot());
  CHECK(pool.waits_for_device());
  CHECK(pool.usage().retiring == 1);
  gate.open();
  CHECK(eventually([&] { return pool.has_free_slot(); }));
  CHECK(pool.usage().quarantined == 0);
  CHECK(pool.usage().in_use == 0);
}

TEST_CASE("a slot whose last handle drops in a host task waits for its streams and comes back") {
  DropBench bench;
  for (int round = 0; round < 3; ++round) {
    std::optional<Tensor> tensor = publish_one(bench.pool, bench.producer.ref());
    must(tensor->prepare_for_consumer(bench.consumer.ref()));
    drop_in_host_task(bench.consumer.ref(), tensor);
    // Queued after the drop and before anybody could record: it still holds the slot.
    StreamGate gate(bench.consumer.ref());
    check_that_slot_waits_for(bench.pool, gate);
  }
}

TEST_CASE("a loan that is given up in a host task waits for its own device work") {
  DropBench bench;
  std::optional<TensorOutputLoan> loan = must(bench.pool.allocate(kSmall, bench.producer.ref()));
  std::optional<TensorWriteGuard> guard = must(loan->write(bench.producer.ref()));
  drop_in_host_task(bench.consumer.ref(), guard);
  CHECK(bench.pool.usage().in_use == 1);
  drop_in_host_task(bench.consumer.ref(), loan);
  StreamGate gate(bench.producer.ref());
  check_that_slot_waits_for(bench.pool, gate);
}

TEST_CASE("a committed loan and one that was not written come back from a host task") {
  DropBench bench;
  std::optional<TensorOutputLoan> loan = must(bench.pool.allocate(kSmall, bench.producer.ref()));
  drop_in_host_task(bench.consumer.ref(), loan);
  CHECK(bench.pool.usage().in_use == 0);
  loan.emplace(must(bench.pool.allocate(kSmall, bench.producer.ref())));
  must(std::move(must(loan->write(bench.producer.ref()))).commit());
  drop_in_host_task(bench.consumer.ref(), loan);
  CHECK(eventually([&] { return bench.pool.has_free_slot(); }));
  CHECK(bench.pool.usage().quarantined == 0);
}

TEST_CASE("a lane that waits for a slot is woken by a drop in a host task") {
  DropBench bench;
  std::optional<Tensor> tensor = publish_one(bench.pool, bench.producer.ref());
  must(tensor->prepare_for_consumer(bench.consumer.ref()));
  std::atomic<int> wakes{0};
  bench.pool.set_return_callback(
      {[](void* context) noexcept { ++*static_cast<std::atomic<int>*>(context); }, &wakes});
  CHECK_FALSE(bench.pool.has_free_slot());
  drop_in_host_task(bench.consumer.ref(), tensor);
  CHECK(wakes == 1);
  CHECK(eventually([&] { return bench.pool.has_free_slot(); }));
}

TEST_CASE("a host task that asks for a slot is told that none is free, and no slot is lost") {
  DropBench bench;
  {
    const Tensor tensor = publish_one(bench.pool, bench.producer.ref());
    must(tensor.prepare_for_consumer(bench.consumer.ref()));
  }
  bool had_slot = true;
  must(bench.device->launch_host(bench.consumer.ref(), [pool = &bench.pool, answer = &had_slot] {
    *answer = pool->has_free_slot();
  }));
  must(bench.device->synchronize(bench.consumer.ref()));
  CHECK_FALSE(had_slot);
  CHECK(eventually([&] { return bench.pool.has_free_slot(); }));
  CHECK(bench.pool.usage().quarantined == 0);
}

TEST_CASE("a pool that ends with a drop in a host task ends outside of it, after its streams") {
  const bool recorded = GENERATE(true, false);
  CAPTURE(recorded);
  const auto device = any_emulated_device();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  std::atomic<bool> ended{false};
  std::atomic<bool> ended_in_host_task{false};
  const auto note_end = [&](const void*) {
    ended_in_host_task = in_host_task();
    ended = true;
  };
  TensorPoolOptions options = device_options(device, 2);
  options.keep_alive = std::shared_ptr<const void>(&ended, note_end);
  std::optional<TensorPool> pool = must_build(options);
  options.keep_alive.reset();
  std::optional<Tensor> first = publish_one(*pool, producer.ref());
  std::optional<Tensor> last = publish_one(*pool, producer.ref());
  must(first->prepare_for_consumer(consumer.ref()));
  pool.reset();
  if (recorded) {
    first.reset();
  } else {
    drop_in_host_task(consumer.ref(), first);
  }
  CHECK_FALSE(ended);
  drop_in_host_task(producer.ref(), last);
  CHECK(eventually([&] { return ended.load(); }));
  CHECK_FALSE(ended_in_host_task);
}

TEST_CASE("a pool waits at its end for work of a slot that came back from a host task") {
  const auto device = ScriptedDevice::make();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  std::array<std::byte, 4> later{};
  {
    TensorPool pool = must_build(device_options(device, 1));
    std::optional<Tensor> tensor = publish_one(pool, producer.ref());
    must(tensor->prepare_for_consumer(consumer.ref()));
    static_cast<void>(device->take_calls());
    HostTask([held = &tensor] { held->reset(); })();
    CHECK(device->take_calls().empty());
    must(device->fill(consumer.ref(), later.data(), std::byte{}, later.size()));
  }
  CHECK(device->count(ScriptedDevice::Op::kSynchronizeStream, consumer.ref()) == 1);
  CHECK_FALSE(device->freed_while_pending());
}

TEST_CASE("a record that fails after a drop in a host task quarantines the slot, and is told") {
  const auto device = ScriptedDevice::make();
  const Stream producer = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 1));
  std::optional<Tensor> tensor = publish_one(pool, producer.ref());
  must(tensor->prepare_for_consumer(producer.ref()));
  HostTask([held = &tensor] { held->reset(); })();
  CHECK(pool.usage().retiring == 1);
  device->break_operation(ScriptedDevice::Op::kRecord);
  CHECK(refusal(pool.allocate(kSmall, producer.ref())).token == "SCRIPTED_FAILURE");
  CHECK(pool.usage().quarantined == 1);
}

struct WorkerBench {
  std::shared_ptr<Device> device{any_emulated_device()};
  Stream stream{must(device->create_stream({}))};
  RetirementWorker worker{must(RetirementWorker::start())};
  MemoryBuffer buffer() {
    return must(MemoryBuffer::allocate(device, MemoryKind::kCudaDevice, 64, worker));
  }
};

TEST_CASE("a buffer whose last owner drops in a host task is given back by the worker") {
  WorkerBench bench;
  std::optional<MemoryBuffer> unshared = bench.buffer();
  must(unshared->set_deallocation_stream(bench.stream.ref()));
  drop_in_host_task(bench.stream.ref(), unshared);
  CHECK(eventually([&] { return bench.worker.usage().retired == 1; }));
  std::optional<ConstBuffer> shared = must(bench.buffer().share(bench.stream.ref()));
  must(shared->enqueue_ready_wait(bench.stream.ref()));
  drop_in_host_task(bench.stream.ref(), shared);
  CHECK(eventually([&] { return bench.worker.usage().retired == 2; }));
  CHECK(bench.worker.usage().unresolved == 0);
}

TEST_CASE("a buffer that nothing holds is not freed in the host task that drops it") {
  WorkerBench bench;
  bench.worker.stop();
  std::optional<MemoryBuffer> buffer = bench.buffer();
  drop_in_host_task(bench.stream.ref(), buffer);
  CHECK(bench.worker.usage().waiting == 1);
  bench.worker.retire_passed();
  CHECK(bench.worker.usage().retired == 1);
}

std::atomic<bool> deleted_in_host_task{false};

TEST_CASE("a foreign tensor dropped in a host task is given back by the worker, outside of tasks") {
  WorkerBench bench;
  ForeignTensor<DLManagedTensor> foreign({16}, kByte, {kDLCUDAHost, 0});
  foreign.managed.deleter = [](DLManagedTensor* self) {
    deleted_in_host_task = in_host_task();
    ++static_cast<ForeignTensor<DLManagedTensor>*>(self->manager_ctx)->deleted;
  };
  std::optional<Tensor> tensor = must(
      make_tensor_from_dlpack(&foreign.managed, {.device = bench.device, .worker = &bench.worker}));
  must(tensor->set_readiness_stream(bench.stream.ref()));
  must(tensor->prepare_for_consumer(bench.stream.ref()));
  drop_in_host_task(bench.stream.ref(), tensor);
  CHECK(eventually([&] { return bench.worker.usage().retired == 1; }));
  CHECK(foreign.deleted == 1);
  CHECK_FALSE(deleted_in_host_task);
}

}  // namespace
}  // namespace weftline
