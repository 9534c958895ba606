// SPDX-License-Identifier: Apache-2.0
#include "weftline/tensor/dlpack_helpers.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

#include "dlpack_view.hpp"

namespace weftline {
namespace {

auto refuse_typestr(ErrorCode code, std::string_view typestr, const std::string& why) {
  constexpr std::size_t kShown = 32;
  return fail(code, "DLPACK_TYPESTR",
              "type string '" + std::string(typestr.substr(0, kShown)) + "': " + why);
}

struct NumberType {
  char kind;
  std::uint8_t code;
  std::array<int, 4> bytes;
};
constexpr std::uint8_t kBoolCode = 6;  // kDLBool, which older headers lack
constexpr std::array<NumberType, 5> kNumberTypes{{{'b', kBoolCode, {1}},
                                                  {'i', kDLInt, {1, 2, 4, 8}},
                                                  {'u', kDLUInt, {1, 2, 4, 8}},
                                                  {'f', kDLFloat, {2, 4, 8}},
                                                  {'c', kDLComplex, {8, 16}}}};

}  // namespace

expected<DLDataType, Error> dldatatype_from_typestr(std::string_view typestr) {
  int bytes = 0;
  const char* const end = typestr.data() + typestr.size();
  const bool has_order =
      typestr.size() >= 3 && std::string_view("<>=|").find(typestr[0]) != std::string_view::npos;
  const auto number = has_order
                          ? std::from_chars(typestr.data() + 2, end, bytes)
                          : std::from_chars_result{typestr.data(), std::errc::invalid_argument};
  if (number.ec != std::errc{} || number.ptr != end || bytes <= 0 ||
      (typestr[0] == '|' && bytes != 1)) {
    return refuse_typestr(ErrorCode::kInvalidArgument, typestr,
                          "it must be a byte order (<, >, = or, for single bytes, |), a kind and "
                          "a number of bytes, as in '<f4'");
  }
  const char other_order = std::endian::native == std::endian::little ? '>' : '<';
  if (typestr[0] == other_order && bytes > 1) {
    return refuse_typestr(ErrorCode::kNotSupported, typestr,
                          "its byte order is not this machine's; swap the bytes first");
  }
  const auto* const type = std::ranges::find(kNumberTypes, typestr[1], &NumberType::kind);
  if (type == kNumberTypes.end() || std::ranges::find(type->bytes, bytes) == type->bytes.end()) {
    return refuse_typestr(ErrorCode::kNotSupported, typestr,
                          "DLPack has no number type for it; convert the array first");
  }
  return DLDataType{type->code, static_cast<std::uint8_t>(bytes * 8), 1};
}

expected<DLDevice, Error> dldevice_from_pointer(const Device& device, const void* pointer) {
  WEFTLINE_ASSIGN(const PointerInfo info, device.pointer_info(pointer));
  return dlpack_device(info.kind, info.device.value_or(device.id()));
}

expected<std::array<std::int64_t, kMaximumTensorRank>, Error> calc_strides(
    std::span<const std::int64_t> shape) {
  WEFTLINE_ASSIGN(const TensorLayout layout, contiguous_layout(shape, {kDLUInt, 8, 1}));
  return layout.strides_bytes;
}

expected<std::unique_ptr<OwnedDlTensor>, Error> copy_dl_tensor_with_owned_metadata(
    const DLTensor& tensor) {
  WEFTLINE_TRY(check_dlpack_shape(tensor));
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  std::unique_ptr<OwnedDlTensor> copied(new OwnedDlTensor);
  std::copy_n(tensor.shape, rank, copied->shape_.begin());
  if (tensor.strides != nullptr) {
    std::copy_n(tensor.strides, rank, copied->strides_.begin());
  } else {
    WEFTLINE_ASSIGN(copied->strides_, calc_strides(std::span(copied->shape_).first(rank)));
  }
  copied->tensor_ = tensor;
  copied->tensor_.shape = copied->shape_.data();
  copied->tensor_.strides = copied->strides_.data();
  return copied;
}

}  // namespace weftline
