// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/dlpack_import.hpp"

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstddef>
#include <limits>
#include <string>

#include "foreign_tensor.hpp"
#include "pool_fixture.hpp"
#include "weftline/tensor/dlpack_export.hpp"
#include "weftline/testing/scripted_device.hpp"

namespace weftline {
namespace {

using Catch::Matchers::ContainsSubstring;
using testing::ScriptedDevice;
using Op = ScriptedDevice::Op;

static_assert(sizeof(DLManagedTensorVersioned) == 2 * sizeof(std::uint32_t) + 2 * sizeof(void*) +
                                                      sizeof(std::uint64_t) + sizeof(DLTensor));
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

constexpr DLDataType kFloat{kDLFloat, 32, 1};

expected<Tensor, Error> import(DLManagedTensor& managed, const DlpackImportOptions& options = {}) {
  return make_tensor_from_dlpack(&managed, options);
}
expected<Tensor, Error> import(DLManagedTensorVersioned& managed,
                               const DlpackImportOptions& options = {}) {
  return make_tensor_from_dlpack_versioned(&managed, options);
}

/// An emulated device whose memory other libraries know as kDLExtDev:7, and a worker that looks
/// when the test says so.
struct ImportBench {
  std::shared_ptr<ScriptedDevice> device{ScriptedDevice::make()};
  Stream producer{must(device->create_stream({}))};
  Stream consumer{must(device->create_stream({}))};
  RetirementWorker worker{must(RetirementWorker::start())};
  DlpackImportOptions options{.device = device, .worker = &worker};
  ForeignTensor<DLManagedTensor> foreign{{16}, {kDLUInt, 8, 1}, {kDLExtDev, 7}};
  ImportBench() { worker.stop(); }
  ~ImportBench() {
    device->pass(producer.ref());
    device->pass(consumer.ref());
    worker.retire_passed();
  }
};

TEMPLATE_TEST_CASE("a host tensor of another library is read where it is, and given back once", "",
                   DLManagedTensor, DLManagedTensorVersioned) {
  ForeignTensor<TestType> foreign({2, 3}, kFloat);
  Tensor tensor = must(import(foreign.managed));
  CHECK(tensor.data() == foreign.bytes.data());
  CHECK(tensor.memory_kind() == MemoryKind::kHost);
  CHECK(tensor.device() == nullptr);
  CHECK(same_dtype(tensor.dtype(), kFloat));
  CHECK(std::ranges::equal(tensor.shape(), std::array<std::int64_t, 2>{2, 3}));
  CHECK(std::ranges::equal(tensor.byte_strides(), std::array<std::int64_t, 2>{12, 4}));
  CHECK(tensor.byte_size() == 24);
  CHECK(tensor.has_readiness_stream_contract());
  CHECK(refusal(tensor.mutable_data()) ==
        Refusal{ErrorCode::kPermissionDenied, "TENSOR_READ_ONLY"});
  CHECK(refusal(tensor.set_readiness_stream({})).token == "TENSOR_READINESS_KNOWN");
  must(tensor.prepare_for_consumer({}));

  Tensor copy = tensor;
  tensor = {};
  CHECK(foreign.deleted == 0);
  copy = {};
  CHECK(foreign.deleted == 1);
}

TEST_CASE("a tensor without a deleter is taken and needs none") {
  ForeignTensor<DLManagedTensor> foreign({4});
  foreign.managed.deleter = nullptr;
  { const Tensor tensor = must(import(foreign.managed)); }
  CHECK(foreign.deleted == 0);
}

TEST_CASE("strides, offsets, lanes, scalars and empty tensors come through as they are") {
  SECTION("strided with an offset") {
    ForeignTensor<DLManagedTensor> foreign({2, 3}, kFloat);
    foreign.set_strides({1, 2});
    foreign.managed.dl_tensor.byte_offset = 20;
    const Tensor tensor = must(import(foreign.managed));
    CHECK(tensor.data() == foreign.bytes.data() + 20);
    CHECK(std::ranges::equal(tensor.byte_strides(), std::array<std::int64_t, 2>{4, 8}));
    CHECK(tensor.byte_size() == 24);
  }
  SECTION("broadcast: stride 0") {
    ForeignTensor<DLManagedTensor> foreign({1000, 2}, kFloat);
    foreign.set_strides({0, 1});
    CHECK(must(import(foreign.managed)).byte_size() == 8);
  }
  SECTION("strides of axes that are never stepped along mean nothing") {
    ForeignTensor<DLManagedTensor> foreign({1, 4}, kFloat);
    foreign.set_strides({std::numeric_limits<std::int64_t>::min(), 1});
    CHECK(must(import(foreign.managed)).byte_size() == 16);
  }
  SECTION("lanes") {
    ForeignTensor<DLManagedTensor> foreign({5}, {kDLFloat, 16, 4});
    const Tensor tensor = must(import(foreign.managed));
    CHECK(tensor.byte_size() == 40);
    CHECK(tensor.dtype().lanes == 4);
  }
  SECTION("lanes of parts of bytes that are whole together") {
    ForeignTensor<DLManagedTensor> foreign({5}, {kDLUInt, 4, 2});
    CHECK(must(import(foreign.managed)).byte_size() == 5);
  }
  SECTION("0-d") {
    ForeignTensor<DLManagedTensor> foreign({}, kFloat);
    foreign.managed.dl_tensor.shape = nullptr;
    const Tensor tensor = must(import(foreign.managed));
    CHECK(tensor.layout().rank == 0);
    CHECK(tensor.byte_size() == 4);
  }
  SECTION("no elements, no data") {
    ForeignTensor<DLManagedTensor> foreign({3, 0, 5}, kFloat);
    foreign.managed.dl_tensor.data = nullptr;
    foreign.managed.dl_tensor.byte_offset = 64;
    const Tensor tensor = must(import(foreign.managed));
    CHECK(tensor.byte_size() == 0);
    CHECK(tensor.data() == nullptr);
  }
}

TEMPLATE_TEST_CASE("a refused tensor stays with its producer", "", DLManagedTensor,
                   DLManagedTensorVersioned) {
  ForeignTensor<TestType> foreign({2, 3}, kFloat);
  DLTensor& dl = foreign.managed.dl_tensor;
  Refusal due{ErrorCode::kInvalidArgument, ""};
  std::string words;
  SECTION("rank") {
    dl.ndim = 9;
    due.token = "DLPACK_RANK";
    words = "ndim is 9; it must be from 0 to 8";
  }
  SECTION("negative rank") {
    dl.ndim = -1;
    due.token = "DLPACK_RANK";
    words = "ndim is -1";
  }
  SECTION("no shape") {
    dl.shape = nullptr;
    due.token = "DLPACK_FIELD_NULL";
    words = "shape is null for ndim 2";
  }
  SECTION("no data") {
    dl.data = nullptr;
    due.token = "DLPACK_FIELD_NULL";
    words = "data is null for 24 bytes";
  }
  SECTION("no bits") {
    dl.dtype.bits = 0;
    due.token = "DLPACK_DTYPE";
    words = "0 bits in 1 lanes";
  }
  SECTION("parts of bytes") {
    dl.dtype = {kDLUInt, 4, 1};
    due.token = "DLPACK_DTYPE";
    words = "4 bits in 1 lanes";
  }
  SECTION("a negative extent") {
    foreign.shape[1] = -1;
    due.token = "TENSOR_EXTENT_NEGATIVE";
    words = "2 axes and float32";
  }
  SECTION("a negative stride") {
    foreign.set_strides({-3, 1});
    due.token = "TENSOR_STRIDE_NEGATIVE";
    words = "2 axes and float32";
  }
  SECTION("a stride past 64 bits") {
    foreign.set_strides({std::int64_t{1} << 61, 1});
    due = {ErrorCode::kArithmeticOverflow, "TENSOR_SPAN_OVERFLOW"};
    words = "axis 0 times 4 bytes";
  }
  SECTION("extents past 64 bits") {
    foreign.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
    dl.shape = foreign.shape.data();
    due = {ErrorCode::kArithmeticOverflow, "TENSOR_SPAN_OVERFLOW"};
    words = "too large";
  }
  SECTION("an offset past the end") {
    dl.byte_offset = ~std::uint64_t{0};
    due.token = "DLPACK_RANGE";
    words = "byte offset 18446744073709551615";
  }
  SECTION("bytes past the end") {
    foreign.shape = {std::int64_t{1} << 60, 1};
    dl.shape = foreign.shape.data();
    dl.byte_offset = ~std::uint64_t{0} - reinterpret_cast<std::uintptr_t>(dl.data) - 100;
    due.token = "DLPACK_RANGE";
    words = "past the end";
  }
  SECTION("an unknown kind of device") {
    dl.device = {kDLMetal, 0};
    due = {ErrorCode::kNotSupported, "DLPACK_DEVICE_UNSUPPORTED"};
    words = "device type 8";
  }
  SECTION("a device that nobody named") {
    dl.device = {kDLCUDA, 3};
    due.token = "DLPACK_DEVICE_MISMATCH";
    words = "kDLCUDA:3, and the device of the options is none";
  }
  const auto refused = import(foreign.managed);
  CHECK(refusal(refused) == due);
  CHECK_THAT(refused.error().message, ContainsSubstring(words));
  CHECK(foreign.deleted == 0);
}

TEST_CASE("null and newer major versions are refused") {
  CHECK(refusal(make_tensor_from_dlpack(nullptr)) ==
        Refusal{ErrorCode::kInvalidArgument, "DLPACK_NULL"});
  CHECK(refusal(make_tensor_from_dlpack_versioned(nullptr)).token == "DLPACK_NULL");
  ForeignTensor<DLManagedTensorVersioned> foreign({4});
  foreign.managed.version = {2, 0};
  const auto refused = import(foreign.managed);
  CHECK(refusal(refused) == Refusal{ErrorCode::kInvalidArgument, "DLPACK_VERSION"});
  CHECK_THAT(refused.error().message, ContainsSubstring("version 2.0"));
  foreign.managed.version = {1, 9};
  foreign.set_strides({1});
  CHECK(import(foreign.managed).has_value());
  CHECK(foreign.deleted == 1);
}

TEST_CASE("strides may be missing before DLPack 1.2, and from there on for scalars only") {
  ForeignTensor<DLManagedTensorVersioned> foreign({4});
  foreign.managed.version = {1, 1};
  CHECK(must(import(foreign.managed)).byte_size() == 4);
  CHECK(foreign.deleted == 1);
  foreign.managed.version = {1, 2};
  const auto refused = import(foreign.managed);
  CHECK(refusal(refused) == Refusal{ErrorCode::kInvalidArgument, "DLPACK_FIELD_NULL"});
  CHECK_THAT(refused.error().message, ContainsSubstring("strides are null for ndim 1"));
  CHECK(foreign.deleted == 1);
  foreign.managed.dl_tensor.ndim = 0;
  CHECK(must(import(foreign.managed)).byte_size() == 1);
  foreign.managed.dl_tensor.ndim = -1;
  CHECK(refusal(import(foreign.managed)).token == "DLPACK_RANK");
}

TEST_CASE(
    "an import keeps its producer's version and flags, and stays read-only whatever they say") {
  ForeignTensor<DLManagedTensorVersioned> foreign({4});
  foreign.managed.version = {1, 1};
  foreign.managed.flags = DLPACK_FLAG_BITMASK_IS_COPIED | (std::uint64_t{1} << 40);
  Tensor tensor = must(import(foreign.managed));
  const auto origin = dlpack_origin(tensor);
  REQUIRE(origin.has_value());
  CHECK(origin->version.major == 1);
  CHECK(origin->version.minor == 1);
  CHECK(origin->flags == (DLPACK_FLAG_BITMASK_IS_COPIED | (std::uint64_t{1} << 40)));
  CHECK(refusal(tensor.mutable_data()).code == ErrorCode::kPermissionDenied);
  // The consumer of an export has no copy of its own.
  DLManagedTensorVersioned* const exported = must(export_to_dlpack_versioned(tensor, {}));
  CHECK(exported->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  exported->deleter(exported);

  ForeignTensor<DLManagedTensor> plain({4});
  const auto without = dlpack_origin(must(import(plain.managed)));
  REQUIRE(without.has_value());
  CHECK(without->version.major == kDlpackExportVersion.major);
  CHECK(without->version.minor == kDlpackExportVersion.minor);
  CHECK(without->flags == 0);

  TensorPool pool = must_build(host_options(1));
  CHECK_FALSE(dlpack_origin(publish_one(pool)).has_value());
  CHECK_FALSE(dlpack_origin(Tensor{}).has_value());
}

TEST_CASE("a tensor on a device is only taken with that device and a worker") {
  ImportBench bench;
  const auto token = [&](DLDevice device, const DlpackImportOptions& options) {
    ForeignTensor<DLManagedTensor> foreign({16}, {kDLUInt, 8, 1}, device);
    const auto refused = import(foreign.managed, options);
    CHECK(foreign.deleted == 0);
    return refusal(refused).token;
  };
  CHECK(token({kDLExtDev, 6}, bench.options) == "DLPACK_DEVICE_MISMATCH");
  CHECK(token({kDLExtDev, -7}, bench.options) == "DLPACK_DEVICE_MISMATCH");
  CHECK(token({kDLCUDA, 7}, bench.options) == "DLPACK_DEVICE_MISMATCH");
  CHECK(token({kDLCUDAManaged, 0}, bench.options) == "DLPACK_DEVICE_MISMATCH");
  CHECK(token({kDLCPU, 0}, bench.options) == "DLPACK_DEVICE_MISMATCH");
  CHECK(token({kDLCUDAHost, 0}, {}) == "DLPACK_DEVICE_MISMATCH");
  CHECK(token({kDLExtDev, 7}, {.device = bench.device}) == "DLPACK_OPTIONS");
  DlpackImportOptions many = bench.options;
  many.max_release_streams = kMaximumReleaseStreams + 1;
  CHECK(token({kDLExtDev, 7}, many) == "DLPACK_OPTIONS");
  bench.device->refuse_events_after(3);
  CHECK(token({kDLExtDev, 7}, bench.options) == "SCRIPTED_NO_EVENT");
  CHECK(bench.device->live_events() == 0);
}

// Rule 6.
TEST_CASE("a foreign tensor is refused for all work until its producer's stream is named") {
  ImportBench bench;
  Tensor tensor = must(import(bench.foreign.managed, bench.options));
  CHECK(tensor.memory_kind() == MemoryKind::kCudaDevice);
  CHECK_FALSE(tensor.has_readiness_stream_contract());
  const Refusal unknown{ErrorCode::kNotSupported, "TENSOR_READINESS_UNKNOWN"};
  std::array<std::byte, 16> copy{};
  CHECK(refusal(tensor.prepare_for_consumer(bench.consumer.ref())) == unknown);
  CHECK(refusal(tensor.enqueue_ready_wait(bench.consumer.ref())) == unknown);
  CHECK(refusal(tensor.synchronize_for_consumer_stream({})) == unknown);
  CHECK(refusal(tensor.synchronize_for_host()) == unknown);
  CHECK(refusal(tensor.copy_to_host(copy.data(), 16, bench.consumer.ref())) == unknown);
  CHECK(bench.device->take_calls().empty());

  const auto stranger = ScriptedDevice::make();
  const Stream foreign_stream = must(stranger->create_stream({}));
  CHECK(refusal(tensor.set_readiness_stream(foreign_stream.ref())).token ==
        "TENSOR_STREAM_FOREIGN");
  CHECK_FALSE(tensor.has_readiness_stream_contract());
  must(tensor.set_readiness_stream(bench.producer.ref()));
  CHECK(tensor.has_readiness_stream_contract());
  CHECK(refusal(tensor.set_readiness_stream(bench.producer.ref())) ==
        Refusal{ErrorCode::kInvalidArgument, "TENSOR_READINESS_KNOWN"});
  must(tensor.synchronize_for_consumer_stream(bench.consumer.ref()));
  const auto calls = bench.device->take_calls();
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].op == Op::kRecord);
  CHECK(calls[0].stream == bench.producer.ref());
  CHECK(calls[1].op == Op::kWait);
  CHECK(calls[1].stream == bench.consumer.ref());
}

TEST_CASE("a producer that is done says so without a stream") {
  ImportBench bench;
  Tensor tensor = must(import(bench.foreign.managed, bench.options));
  must(tensor.set_readiness_stream({}));
  must(tensor.synchronize_for_consumer_stream({}));
  must(tensor.synchronize_for_consumer_stream(bench.consumer.ref()));
  CHECK(bench.device->take_calls().empty());
  CHECK(bench.worker.usage().host_waits.total() == 0);
}

TEST_CASE("a null consumer stream waits on the host, counted under its own name") {
  ImportBench bench;
  const Tensor tensor = must(import(bench.foreign.managed, bench.options));
  must(tensor.set_readiness_stream(bench.producer.ref()));
  must(tensor.synchronize_for_consumer_stream({}));
  CHECK(bench.device->count(Op::kSynchronizeEvent) == 1);
  CHECK(bench.worker.usage().host_waits.null_consumer_stream == 1);
  CHECK(bench.worker.usage().host_waits.total() == 1);
}

TEST_CASE("the deleter runs once, on the worker, after every stream of the tensor has passed") {
  ImportBench bench;
  Tensor tensor = must(import(bench.foreign.managed, bench.options));
  must(tensor.set_readiness_stream(bench.producer.ref()));
  must(tensor.synchronize_for_consumer_stream(bench.consumer.ref()));
  const Stream third = must(bench.device->create_stream({}));
  must(tensor.set_deallocation_stream(third.ref()));
  tensor = {};
  for (const StreamRef stream : {bench.producer.ref(), bench.consumer.ref(), third.ref()}) {
    bench.worker.retire_passed();
    CHECK(bench.foreign.deleted == 0);
    CHECK(bench.worker.usage().waiting == 1);
    bench.device->pass(stream);
  }
  CHECK(bench.foreign.deleted == 0);  // not before the worker looks
  bench.worker.retire_passed();
  CHECK(bench.foreign.deleted == 1);
  bench.worker.retire_passed();
  CHECK(bench.foreign.deleted == 1);
  CHECK(bench.device->live_events() == 0);
}

TEST_CASE("pinned memory of another library belongs to the device that the importer names") {
  ImportBench bench;
  ForeignTensor<DLManagedTensor> foreign({16}, {kDLUInt, 8, 1}, {kDLCUDAHost, 0});
  Tensor tensor = must(import(foreign.managed, bench.options));
  CHECK(tensor.memory_kind() == MemoryKind::kPinnedHost);
  CHECK(tensor.device() == bench.device.get());
  CHECK_FALSE(tensor.has_readiness_stream_contract());
  tensor = {};
  CHECK(foreign.deleted == 1);
}

}  // namespace
}  // namespace weftline
