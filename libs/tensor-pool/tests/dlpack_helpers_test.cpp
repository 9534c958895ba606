// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/dlpack_helpers.hpp"

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "foreign_tensor.hpp"
#include "pool_fixture.hpp"
#include "weftline/cuda/open_device.hpp"

namespace weftline {
namespace {

TEST_CASE("type strings name the number types that DLPack has") {
  const std::vector<std::pair<const char*, std::string>> types{
      {"|b1", "bool"},    {"|i1", "int8"},    {"<i2", "int16"},     {"=i4", "int32"},
      {"<i8", "int64"},   {"|u1", "uint8"},   {"<u1", "uint8"},     {">u1", "uint8"},
      {"<u2", "uint16"},  {"<u4", "uint32"},  {"<u8", "uint64"},    {"<f2", "float16"},
      {"<f4", "float32"}, {"<f8", "float64"}, {"<c8", "complex64"}, {"<c16", "complex128"},
  };
  for (const auto& [typestr, name] : types) {
    CAPTURE(typestr);
    CHECK(dtype_name(must(dldatatype_from_typestr(typestr))) == name);
  }
}

TEST_CASE("type strings that name no such type are refused") {
  for (const std::string typestr : {"", "<", "<f", "f4", "<f4 ", "<f4x", " <f4", "<f-4", "<f0",
                                    "<f99999999999", "|f4", "xf4", "<f4\xff"}) {
    CAPTURE(typestr);
    CHECK(refusal(dldatatype_from_typestr(typestr)) ==
          Refusal{ErrorCode::kInvalidArgument, "DLPACK_TYPESTR"});
  }
  for (const std::string typestr :
       {">f4", "<f16", "<i16", "<i3", "|V1", "<U4", "<M8", "<b2", "<c4", "|O1"}) {
    CAPTURE(typestr);
    CHECK(refusal(dldatatype_from_typestr(typestr)) ==
          Refusal{ErrorCode::kNotSupported, "DLPACK_TYPESTR"});
  }
  CHECK(dldatatype_from_typestr(std::string(1 << 20, '<')).error().message.size() < 200);
}

TEST_CASE("a pointer's device is the one that its memory belongs to") {
  DeviceOptions options;
  options.emulated.device_count = 3;
  const auto device = must(open_device({DeviceKind::kEmulated, 2}, options));
  const MemoryBlock own = must(device->allocate(MemoryKind::kCudaDevice, 16));
  const MemoryBlock pinned = must(device->allocate(MemoryKind::kPinnedHost, 16));
  const MemoryBlock managed = must(device->allocate(MemoryKind::kCudaManaged, 16));
  const int plain = 0;
  const DLDevice of_own = must(dldevice_from_pointer(*device, own.data() + 15));
  CHECK(of_own.device_type == kDLExtDev);
  CHECK(of_own.device_id == 2);
  CHECK(must(dldevice_from_pointer(*device, pinned.data())).device_type == kDLCUDAHost);
  CHECK(must(dldevice_from_pointer(*device, &plain)).device_type == kDLCPU);
  CHECK(refusal(dldevice_from_pointer(*device, managed.data())).token ==
        "DLPACK_DEVICE_UNSUPPORTED");
  CHECK(refusal(dldevice_from_pointer(*device, nullptr)).token == "DEVICE_NULL_POINTER");
}

TEST_CASE("packed strides are counted in elements") {
  const std::array<std::int64_t, 3> shape{2, 3, 4};
  const auto strides = must(calc_strides(shape));
  CHECK(strides[0] == 12);
  CHECK(strides[1] == 4);
  CHECK(strides[2] == 1);
  must(calc_strides({}));
  const std::array<std::int64_t, 9> too_many{};
  CHECK(refusal(calc_strides(too_many)).token == "TENSOR_RANK_TOO_HIGH");
  const std::array<std::int64_t, 2> huge{std::numeric_limits<std::int64_t>::max(), 2};
  CHECK(refusal(calc_strides(huge)).token == "TENSOR_SPAN_OVERFLOW");
  const std::array<std::int64_t, 1> negative{-1};
  CHECK(refusal(calc_strides(negative)).token == "TENSOR_EXTENT_NEGATIVE");
}

TEST_CASE("strides must be there from DLPack 1.2 on") {
  CHECK_FALSE(dlpack_version_requires_explicit_strides({0, 9}));
  CHECK_FALSE(dlpack_version_requires_explicit_strides({1, 1}));
  CHECK(dlpack_version_requires_explicit_strides({1, 2}));
  CHECK(dlpack_version_requires_explicit_strides({2, 0}));
}

TEST_CASE("a copied header keeps its shape and strides when the original's are gone") {
  ForeignTensor<DLManagedTensor> foreign({2, 3});
  foreign.set_strides({6, 2});
  foreign.managed.dl_tensor.byte_offset = 5;
  const auto copied = must(copy_dl_tensor_with_owned_metadata(foreign.managed.dl_tensor));
  foreign.shape = {9, 9};
  foreign.strides = {9, 9};
  const DLTensor& tensor = copied->get();
  CHECK(tensor.data == foreign.bytes.data());
  CHECK(tensor.byte_offset == 5);
  REQUIRE(tensor.ndim == 2);
  CHECK(tensor.shape[0] == 2);
  CHECK(tensor.shape[1] == 3);
  CHECK(tensor.strides[0] == 6);
  CHECK(tensor.strides[1] == 2);
}

TEST_CASE("a copied header has strides where the original had none, and bad ones are refused") {
  ForeignTensor<DLManagedTensor> foreign({2, 3});
  DLTensor& original = foreign.managed.dl_tensor;
  const auto copied = must(copy_dl_tensor_with_owned_metadata(original));
  CHECK(copied->get().strides[0] == 3);
  CHECK(copied->get().strides[1] == 1);
  original.ndim = 9;
  CHECK(refusal(copy_dl_tensor_with_owned_metadata(original)).token == "DLPACK_RANK");
  original.ndim = -1;
  CHECK(refusal(copy_dl_tensor_with_owned_metadata(original)).token == "DLPACK_RANK");
  original.ndim = 2;
  original.shape = nullptr;
  CHECK(refusal(copy_dl_tensor_with_owned_metadata(original)).token == "DLPACK_FIELD_NULL");
  original.ndim = 0;
  CHECK(must(copy_dl_tensor_with_owned_metadata(original))->get().ndim == 0);
}

}  // namespace
}  // namespace weftline
