// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/dlpack_export.hpp"

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "pool_fixture.hpp"
#include "weftline/tensor/dlpack_import.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

template <class Managed>
expected<Managed*, Error> export_as(const Tensor& tensor, StreamRef consumer);
template <>
expected<DLManagedTensor*, Error> export_as(const Tensor& tensor, StreamRef consumer) {
  return export_to_dlpack(tensor, consumer);
}
template <>
expected<DLManagedTensorVersioned*, Error> export_as(const Tensor& tensor, StreamRef consumer) {
  return export_to_dlpack_versioned(tensor, consumer);
}

Tensor strided_tensor(TensorPool& pool, std::vector<std::int64_t> shape, DLDataType dtype,
                      std::vector<std::int64_t> byte_strides = {}) {
  TensorOutputLoan loan = must(pool.allocate({shape, dtype, byte_strides}, {}));
  must(loan.write_host_and_commit([](void*, std::uint64_t) {}));
  return must(publish(std::move(loan)));
}

TEMPLATE_TEST_CASE("an exported tensor keeps its slot until the consumer's deleter runs", "",
                   DLManagedTensor, DLManagedTensorVersioned) {
  TensorPool pool = must_build(host_options(1));
  Tensor tensor = strided_tensor(pool, {2, 2}, {kDLUInt, 16, 1}, {8, 2});
  TestType* managed = must(export_as<TestType>(tensor, {}));
  const DLTensor& dl = managed->dl_tensor;
  CHECK(dl.data == tensor.data());
  CHECK(dl.byte_offset == 0);
  CHECK(dl.device.device_type == kDLCPU);
  CHECK(dl.device.device_id == 0);
  REQUIRE(dl.ndim == 2);
  CHECK(dl.shape[0] == 2);
  CHECK(dl.shape[1] == 2);
  CHECK(dl.strides[0] == 4);
  CHECK(dl.strides[1] == 1);
  CHECK(same_dtype(dl.dtype, {kDLUInt, 16, 1}));
  if constexpr (std::is_same_v<TestType, DLManagedTensorVersioned>) {
    CHECK(managed->version.major == 1);
    CHECK(managed->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  }
  tensor = {};
  CHECK_FALSE(pool.has_free_slot());
  managed->deleter(managed);
  CHECK(pool.has_free_slot());
}

TEST_CASE(
    "an export of a device tensor is ordered on its consumer's stream, which holds the slot") {
  const auto device = ScriptedDevice::make();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, producer.ref());
  DLManagedTensorVersioned* managed = must(export_to_dlpack_versioned(tensor, consumer.ref()));
  CHECK(managed->dl_tensor.device.device_type == kDLExtDev);
  CHECK(managed->dl_tensor.device.device_id == 7);
  CHECK(device->count(Op::kWait, consumer.ref()) == 1);
  tensor = {};
  must(device->fill(consumer.ref(), nullptr, std::byte{0}, 0));
  managed->deleter(managed);
  device->pass(producer.ref());
  CHECK_FALSE(pool.has_free_slot());
  device->pass(consumer.ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("an export without a stream waits on the host, counted under its own name") {
  const auto device = ScriptedDevice::make();
  const Stream producer = must(device->create_stream({}));
  TensorPool pool = must_build(device_options(device, 1, MemoryKind::kPinnedHost));
  const Tensor tensor = publish_one(pool, producer.ref());
  DLManagedTensor* managed = must(export_to_dlpack(tensor, {}));
  CHECK(managed->dl_tensor.device.device_type == kDLCUDAHost);
  CHECK(pool.usage().host_waits.null_consumer_stream == 1);
  CHECK(pool.usage().host_waits.total() == 1);
  managed->deleter(managed);
}

TEST_CASE("an export of a fused tensor brings its fences back, on the fused stream as well") {
  const auto device = ScriptedDevice::make();
  const Stream fused = must(device->create_stream({}));
  TensorPoolOptions options = device_options(device, 1);
  options.fused_stream = fused.ref();
  TensorPool pool = must_build(options);
  Tensor tensor = publish_one(pool, fused.ref());
  DLManagedTensor* managed = must(export_to_dlpack(tensor, fused.ref()));
  CHECK(device->count(Op::kRecord, fused.ref()) == 1);
  tensor = {};
  managed->deleter(managed);
  CHECK_FALSE(pool.has_free_slot());
  device->pass(fused.ref());
  CHECK(pool.has_free_slot());
}

TEST_CASE("what can't be exported is refused, and nothing is held") {
  const auto device = ScriptedDevice::make();
  const Stream producer = must(device->create_stream({}));
  const auto stranger = ScriptedDevice::make();
  const Stream foreign = must(stranger->create_stream({}));
  CHECK(refusal(export_to_dlpack(Tensor{}, {})) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_EMPTY"});
  SECTION("strides that are no whole elements") {
    TensorPool pool = must_build(host_options(1));
    {
      const Tensor tensor = strided_tensor(pool, {2, 2}, {kDLUInt, 16, 1}, {5, 2});
      const auto refused = export_to_dlpack_versioned(tensor, {});
      CHECK(refusal(refused) == Refusal{ErrorCode::kNotSupported, "DLPACK_STRIDES"});
      CHECK(refused.error().message.find("stride 5 of axis 0") != std::string::npos);
    }
    CHECK(pool.has_free_slot());
  }
  SECTION("a stream of another device") {
    TensorPool pool = must_build(device_options(device, 1));
    const Tensor tensor = publish_one(pool, producer.ref());
    CHECK(refusal(export_to_dlpack(tensor, foreign.ref())).token == "TENSOR_STREAM_FOREIGN");
  }
  SECTION("managed memory of an emulated device") {
    TensorPool pool = must_build(device_options(device, 1, MemoryKind::kCudaManaged));
    const Tensor tensor = publish_one(pool, producer.ref());
    CHECK(refusal(export_to_dlpack(tensor, producer.ref())) ==
          Refusal{ErrorCode::kNotSupported, "DLPACK_DEVICE_UNSUPPORTED"});
  }
}

TEST_CASE(
    "an exported tensor that is imported again is the same tensor, and waits for its writer") {
  const auto device = ScriptedDevice::make();
  const Stream producer = must(device->create_stream({}));
  const Stream consumer = must(device->create_stream({}));
  RetirementWorker worker = must(RetirementWorker::start());
  worker.stop();
  TensorPool pool = must_build(device_options(device, 1));
  Tensor tensor = publish_one(pool, producer.ref());
  DLManagedTensorVersioned* managed = must(export_to_dlpack_versioned(tensor, producer.ref()));
  Tensor imported =
      must(make_tensor_from_dlpack_versioned(managed, {.device = device, .worker = &worker}));
  CHECK(imported.data() == tensor.data());
  CHECK(imported.memory_kind() == tensor.memory_kind());
  CHECK(std::ranges::equal(imported.shape(), tensor.shape()));
  tensor = {};
  // A foreign tensor again, so its new importer has to say what it waits for, and to be told no
  // export without that.
  CHECK(refusal(export_to_dlpack(imported, consumer.ref())).token == "TENSOR_READINESS_UNKNOWN");
  must(imported.set_readiness_stream(producer.ref()));
  must(imported.prepare_for_consumer(consumer.ref()));
  imported = {};
  device->pass(producer.ref());
  worker.retire_passed();
  CHECK_FALSE(pool.has_free_slot());
  device->pass(consumer.ref());
  worker.retire_passed();
  device->pass(producer.ref());  // recorded by the drop of the export's handle
  CHECK(pool.has_free_slot());
}

TEST_CASE("0-d and empty tensors are exported") {
  TensorPool pool = must_build(host_options(2));
  const Tensor scalar = strided_tensor(pool, {}, kByte);
  DLManagedTensor* managed = must(export_to_dlpack(scalar, {}));
  CHECK(managed->dl_tensor.ndim == 0);
  managed->deleter(managed);
  const Tensor empty = strided_tensor(pool, {0, 4}, kByte);
  managed = must(export_to_dlpack(empty, {}));
  CHECK(managed->dl_tensor.shape[0] == 0);
  managed->deleter(managed);
}

}  // namespace
}  // namespace weftline
