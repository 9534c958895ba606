// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/tensor.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstring>
#include <type_traits>

#include "pool_fixture.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

static_assert(sizeof(Tensor) == sizeof(void*));
static_assert(std::is_nothrow_copy_constructible_v<Tensor>);
static_assert(std::is_same_v<decltype(std::declval<Tensor&>().data()), const void*>);

struct DeviceBench {
  std::shared_ptr<ScriptedDevice> device{ScriptedDevice::make()};
  Stream producer{must(device->create_stream({}))};
  Stream consumer{must(device->create_stream({}))};
};

TEST_CASE("an empty tensor has nothing and every operation on it says so") {
  const Tensor empty;
  CHECK_FALSE(empty);
  CHECK(empty.layout().rank == 0);
  CHECK(empty.shape().empty());
  CHECK(empty.byte_strides().empty());
  CHECK(empty.byte_size() == 0);
  CHECK(empty.data() == nullptr);
  CHECK(empty.device() == nullptr);
  CHECK(empty.memory_kind() == MemoryKind::kUnknown);

  const Refusal said{ErrorCode::kInvalidArgument, "TENSOR_EMPTY"};
  std::array<std::uint8_t, 16> bytes{};
  CHECK(refusal(empty.mutable_data()) == said);
  CHECK(refusal(empty.enqueue_ready_wait({})) == said);
  CHECK(refusal(empty.set_deallocation_stream({})) == said);
  CHECK(refusal(empty.prepare_for_consumer({})) == said);
  CHECK(refusal(empty.synchronize_for_host()) == said);
  CHECK(refusal(empty.copy_to_host(bytes.data(), 0, {})) == said);
  CHECK(refusal(empty.copy_to_host_async(bytes.data(), 0, {})) == said);
}

TEST_CASE("the slot is free only after the last copy of a handle is gone") {
  TensorPool pool = must_build(host_options(1));
  Tensor first = publish_one(pool);
  Tensor second = first;
  Tensor third(std::move(first));
  CHECK_FALSE(first);
  CHECK(third.data() == second.data());
  Tensor& self = second;
  second = self;
  second = std::move(self);
  CHECK(second);

  third = {};
  CHECK_FALSE(pool.has_free_slot());
  third = std::move(second);
  CHECK_FALSE(pool.has_free_slot());
  third = Tensor{};
  CHECK(pool.has_free_slot());
}

TEST_CASE("a published tensor is read-only") {
  TensorPool pool = must_build(host_options(1));
  const Tensor tensor = publish_one(pool);
  CHECK(refusal(tensor.mutable_data()) ==
        Refusal{ErrorCode::kPermissionDenied, "TENSOR_READ_ONLY"});
}

TEST_CASE("a tensor tells its layout, memory kind and device") {
  const auto device = ScriptedDevice::make();
  TensorPool pool = must_build(device_options(device, 1, MemoryKind::kCudaManaged));
  const Tensor tensor = publish_one(pool, {});
  CHECK(tensor.shape().size() == 1);
  CHECK(tensor.shape()[0] == 16);
  CHECK(tensor.byte_strides()[0] == 1);
  CHECK(same_dtype(tensor.dtype(), kByte));
  CHECK(tensor.byte_size() == 16);
  CHECK(tensor.memory_kind() == MemoryKind::kCudaManaged);
  CHECK(tensor.device() == device.get());
}

TEST_CASE(
    "each readiness wait is queued once, on the stream that asked, for the producer's event") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 1));
  const Tensor tensor = publish_one(pool, bench.producer.ref());
  const EventRef ready = bench.device->take_calls().at(0).event;

  must(tensor.enqueue_ready_wait(bench.consumer.ref()));
  must(tensor.enqueue_ready_wait(bench.producer.ref()));
  const auto calls = bench.device->take_calls();
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].op == Op::kWait);
  CHECK(calls[0].stream == bench.consumer.ref());
  CHECK(calls[0].event == ready);
  CHECK(calls[1].op == Op::kWait);
  CHECK(calls[1].stream == bench.producer.ref());
  CHECK(pool.usage().host_waits.total() == 0);
}

TEST_CASE("a tensor that the host wrote needs no readiness wait") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 1, MemoryKind::kPinnedHost));
  const Tensor tensor = publish_one(pool, bench.producer.ref(), {});
  must(tensor.enqueue_ready_wait(bench.consumer.ref()));
  must(tensor.synchronize_for_host());
  must(tensor.prepare_for_consumer({}));
  CHECK(bench.device->take_calls().empty());
  CHECK(pool.usage().host_waits.total() == 0);
}

TEST_CASE("what the slot's last loan left is no readiness of the next one") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 1, MemoryKind::kPinnedHost));
  { const Tensor device_written = publish_one(pool, bench.producer.ref()); }
  bench.device->pass(bench.producer.ref());
  Tensor tensor = publish_one(pool, bench.producer.ref(), {});
  static_cast<void>(bench.device->take_calls());
  must(tensor.enqueue_ready_wait(bench.consumer.ref()));
  must(tensor.synchronize_for_host());
  tensor = {};
  CHECK(bench.device->take_calls().empty());
  CHECK(pool.has_free_slot());
}

TEST_CASE("preparing for a consumer with a stream waits there and registers it for release") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 1));
  Tensor tensor = publish_one(pool, bench.producer.ref());
  must(tensor.prepare_for_consumer(bench.consumer.ref()));
  CHECK(bench.device->count(Op::kWait, bench.consumer.ref()) == 1);
  CHECK(pool.usage().host_waits.total() == 0);

  tensor = {};
  CHECK(bench.device->count(Op::kRecord, bench.consumer.ref()) == 1);
  bench.device->pass(bench.producer.ref());
  CHECK_FALSE(pool.has_free_slot());
  bench.device->pass(bench.consumer.ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("preparing for a consumer without a stream waits on the host only for pending work") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 2, MemoryKind::kPinnedHost));
  const Tensor pending = publish_one(pool, bench.producer.ref());
  must(pending.prepare_for_consumer({}));
  CHECK(bench.device->count(Op::kSynchronizeEvent) == 1);
  CHECK(pool.usage().host_waits.total() == 1);

  must(pending.prepare_for_consumer({}));
  must(pending.synchronize_for_host());
  CHECK(bench.device->count(Op::kSynchronizeEvent) == 1);
  CHECK(pool.usage().host_waits.total() == 1);

  const Tensor another = publish_one(pool, bench.producer.ref());
  must(another.synchronize_for_host());
  CHECK(pool.usage().host_waits.streamless_consumer == 1);
  CHECK(pool.usage().host_waits.synchronize_for_host == 1);
  CHECK(pool.usage().host_waits.total() == 2);
}

TEST_CASE("streams that can't serve a tensor are refused by name") {
  DeviceBench bench;
  const auto other = ScriptedDevice::make();
  const Stream foreign = must(other->create_stream({}));
  TensorPool pool = must_build(device_options(bench.device, 1));
  const Tensor tensor = publish_one(pool, bench.producer.ref());
  std::array<std::uint8_t, 16> bytes{};

  const Refusal foreign_stream{ErrorCode::kNotSupported, "TENSOR_STREAM_FOREIGN"};
  CHECK(refusal(tensor.enqueue_ready_wait(foreign.ref())) == foreign_stream);
  CHECK(refusal(tensor.set_deallocation_stream(foreign.ref())) == foreign_stream);
  CHECK(refusal(tensor.prepare_for_consumer(foreign.ref())) == foreign_stream);
  CHECK(refusal(tensor.copy_to_host(bytes.data(), 16, foreign.ref())) == foreign_stream);
  CHECK(refusal(tensor.copy_to_host_async(bytes.data(), 16, foreign.ref())) == foreign_stream);

  const Refusal required{ErrorCode::kInvalidArgument, "TENSOR_STREAM_REQUIRED"};
  const StreamRef default_stream(*bench.device, static_cast<CUstream_st*>(nullptr));
  CHECK(refusal(tensor.enqueue_ready_wait({})) == required);
  CHECK(refusal(tensor.enqueue_ready_wait(default_stream)) == required);
  CHECK(refusal(tensor.set_deallocation_stream({})) == required);
  CHECK(refusal(tensor.prepare_for_consumer(default_stream)) == required);
  CHECK(refusal(tensor.copy_to_host(bytes.data(), 16, {})) == required);
  CHECK(refusal(tensor.copy_to_host_async(bytes.data(), 16, {})) == required);

  CHECK(bench.device->count(Op::kWait) == 0);
  CHECK(bench.device->count(Op::kCopy) == 0);
  CHECK(pool.usage().host_waits.total() == 0);
}

TEST_CASE("a plain host tensor takes consumers with and without a stream, and no release stream") {
  DeviceBench bench;
  TensorPool pool = must_build(host_options(1));
  const Tensor tensor = publish_one(pool);
  must(tensor.prepare_for_consumer(bench.consumer.ref()));
  must(tensor.prepare_for_consumer({}));
  must(tensor.enqueue_ready_wait(bench.consumer.ref()));
  must(tensor.synchronize_for_host());
  CHECK(refusal(tensor.set_deallocation_stream(bench.consumer.ref())) ==
        Refusal{ErrorCode::kNotSupported, "TENSOR_WITHOUT_DEVICE"});
  CHECK(bench.device->take_calls().empty());
}

TEST_CASE("a host tensor is copied to the host at once, in whole or from its start") {
  TensorPool pool = must_build(host_options(1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, {}));
  must(loan.write_host_and_commit([](void* data, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i) static_cast<std::uint8_t*>(data)[i] = std::uint8_t(i);
  }));
  const Tensor tensor = must(publish(std::move(loan)));
  std::array<std::uint8_t, 17> bytes{};
  must(tensor.copy_to_host(bytes.data(), 16, {}));
  CHECK(bytes[15] == 15);
  bytes.fill(0);
  must(tensor.copy_to_host_async(bytes.data(), 3, {}));
  CHECK(bytes[2] == 2);
  CHECK(bytes[3] == 0);
  must(tensor.copy_to_host(nullptr, 0, {}));
  CHECK(pool.usage().host_waits.total() == 0);

  const Refusal size{ErrorCode::kInvalidArgument, "TENSOR_COPY_SIZE"};
  CHECK(refusal(tensor.copy_to_host(bytes.data(), 17, {})) == size);
  CHECK(refusal(tensor.copy_to_host_async(bytes.data(), ~std::uint64_t{0}, {})) == size);
  CHECK(refusal(tensor.copy_to_host(nullptr, 1, {})) == size);
}

TEST_CASE("a blocking copy of a device tensor is ordered after the writes and retains no stream") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 1));
  TensorOutputLoan loan = must(pool.allocate(kSmall, bench.producer.ref()));
  must(loan.write_and_commit(bench.producer.ref(), [&](void* data, std::uint64_t bytes) {
    return bench.device->fill(bench.producer.ref(), data, std::byte{9}, bytes);
  }));
  Tensor tensor = must(publish(std::move(loan)));
  static_cast<void>(bench.device->take_calls());

  std::array<std::uint8_t, 16> bytes{};
  must(tensor.copy_to_host(bytes.data(), 16, bench.consumer.ref()));
  CHECK(bytes[15] == 9);
  CHECK(pool.usage().host_waits.copy_to_host == 1);
  CHECK(pool.usage().host_waits.total() == 1);
  const auto calls = bench.device->take_calls();
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].op == Op::kWait);
  CHECK(calls[1].op == Op::kCopy);
  CHECK(calls[2].op == Op::kSynchronizeStream);

  tensor = {};
  CHECK(bench.device->count(Op::kRecord, bench.consumer.ref()) == 0);
}

TEST_CASE("a blocking copy without a stream waits and copies on the host, where a host can") {
  DeviceBench bench;
  const MemoryKind kind = GENERATE(MemoryKind::kPinnedHost, MemoryKind::kCudaManaged);
  TensorPool pool = must_build(device_options(bench.device, 1, kind));
  TensorOutputLoan loan = must(pool.allocate(kSmall, bench.producer.ref()));
  must(loan.write_and_commit(bench.producer.ref(), [&](void* data, std::uint64_t bytes) {
    return bench.device->fill(bench.producer.ref(), data, std::byte{9}, bytes);
  }));
  const Tensor tensor = must(publish(std::move(loan)));
  static_cast<void>(bench.device->take_calls());

  std::array<std::uint8_t, 16> bytes{};
  must(tensor.copy_to_host(bytes.data(), 16, {}));
  CHECK(bytes[15] == 9);
  CHECK(bench.device->count(Op::kSynchronizeEvent) == 1);
  CHECK(bench.device->count(Op::kCopy) == 0);
  CHECK(pool.usage().host_waits.copy_to_host == 1);
  bytes.fill(0);
  must(tensor.copy_to_host(bytes.data(), 16, {}));
  CHECK(bytes[15] == 9);
  CHECK(pool.usage().host_waits.total() == 1);  // it was ready
  CHECK(refusal(tensor.copy_to_host_async(bytes.data(), 16, {})).token == "TENSOR_STREAM_REQUIRED");
}

TEST_CASE("a blocking copy whose wait fails still holds the slot") {
  DeviceBench bench;
  TensorPoolOptions options = device_options(bench.device, 1);
  options.max_release_streams = GENERATE(1U, 0U);
  std::array<std::uint8_t, 16> bytes{};
  {
    TensorPool pool = must_build(options);
    Tensor tensor = publish_one(pool, bench.producer.ref());
    bench.device->break_operation(Op::kSynchronizeStream);
    CHECK(refusal(tensor.copy_to_host(bytes.data(), 16, bench.consumer.ref())).token ==
          "SCRIPTED_FAILURE");
    bench.device->mend();
    tensor = {};
    bench.device->pass(bench.producer.ref());
    if (options.max_release_streams == 1) {
      CHECK_FALSE(pool.has_free_slot());
      bench.device->pass(bench.consumer.ref());
      CHECK(pool.has_free_slot());
    } else {
      // There is no room to remember the stream, so nothing can ever tell that the copy is done.
      bench.device->pass(bench.consumer.ref());
      CHECK(refusal(pool.allocate(kSmall, {})).token == "TENSOR_WORK_UNPROVEN");
      CHECK(pool.usage().quarantined == 1);
    }
  }
  CHECK_FALSE(bench.device->freed_while_pending());
}

TEST_CASE("an asynchronous copy returns at once and holds the slot until its stream has passed") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 1));
  Tensor tensor = publish_one(pool, bench.producer.ref());
  std::array<std::uint8_t, 16> bytes{};
  must(tensor.copy_to_host_async(bytes.data(), 16, bench.consumer.ref()));
  CHECK(pool.usage().host_waits.total() == 0);
  CHECK(bench.device->count(Op::kSynchronizeStream) == 0);

  tensor = {};
  bench.device->pass(bench.producer.ref());
  CHECK_FALSE(pool.has_free_slot());
  bench.device->pass(bench.consumer.ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("an error of the device comes through and leaves the tensor usable") {
  DeviceBench bench;
  TensorPool pool = must_build(device_options(bench.device, 1));
  const Tensor tensor = publish_one(pool, bench.producer.ref());
  std::array<std::uint8_t, 16> bytes{};
  const Op broken = GENERATE(Op::kWait, Op::kCopy, Op::kSynchronizeStream);
  bench.device->break_operation(broken);
  CHECK(refusal(tensor.copy_to_host(bytes.data(), 16, bench.consumer.ref())).token ==
        "SCRIPTED_FAILURE");
  bench.device->mend();
  must(tensor.copy_to_host(bytes.data(), 16, bench.consumer.ref()));

  bench.device->break_operation(Op::kQuery);
  CHECK(refusal(tensor.synchronize_for_host()).token == "SCRIPTED_FAILURE");
  bench.device->mend();
  must(tensor.synchronize_for_host());
}

}  // namespace
}  // namespace weftline
