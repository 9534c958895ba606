// SPDX-License-Identifier: Apache-2.0
#include "weftline/core/tensor_layout.hpp"

#include <algorithm>
#include <string_view>

namespace weftline {
namespace {

std::string_view dtype_code_name(std::uint8_t code) noexcept {
  constexpr std::uint8_t kBoolCode = 6;  // kDLBool, which older DLPack headers lack
  switch (code) {
    case kDLInt:
      return "int";
    case kDLUInt:
      return "uint";
    case kDLFloat:
      return "float";
    case kDLOpaqueHandle:
      return "opaque";
    case kDLBfloat:
      return "bfloat";
    case kDLComplex:
      return "complex";
    case kBoolCode:
      return "bool";
    default:
      return {};
  }
}

auto refuse(std::string_view token, ErrorCode code = ErrorCode::kInvalidArgument) {
  return fail(code, token);
}

auto span_overflow() { return refuse("TENSOR_SPAN_OVERFLOW", ErrorCode::kArithmeticOverflow); }

/// Checks what both factories check, and copies dtype and shape.
expected<TensorLayout, Error> layout_of_shape(std::span<const std::int64_t> shape,
                                              DLDataType dtype) noexcept {
  if (shape.size() > kMaximumTensorRank) return refuse("TENSOR_RANK_TOO_HIGH");
  if (dtype_bytes(dtype) == 0) return refuse("TENSOR_DTYPE_INVALID");
  if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
    return refuse("TENSOR_EXTENT_NEGATIVE");
  }
  TensorLayout layout{.dtype = dtype, .rank = static_cast<std::uint32_t>(shape.size())};
  std::ranges::copy(shape, layout.extents.begin());
  return layout;
}

bool has_no_elements(std::span<const std::int64_t> shape) noexcept {
  return std::ranges::find(shape, 0) != shape.end();
}

}  // namespace

std::string dtype_name(DLDataType dtype) {
  std::string name(dtype_code_name(dtype.code));
  if (name.empty()) name.append("code").append(std::to_string(dtype.code)).append("_");
  if (name != "bool" || dtype.bits != 8) name += std::to_string(dtype.bits);
  if (dtype.lanes != 1) name.append("x").append(std::to_string(dtype.lanes));
  return name;
}

bool TensorLayout::contiguous() const noexcept {
  if (has_no_elements(shape())) return true;
  auto packed = static_cast<std::int64_t>(dtype_bytes(dtype));
  for (std::size_t axis = rank; axis-- > 0;) {
    // The stride of a single element is never stepped over.
    if (extents[axis] != 1 && strides_bytes[axis] != packed) return false;
    packed *= extents[axis];
  }
  return true;
}

std::uint64_t TensorLayout::byte_span() const noexcept {
  if (has_no_elements(shape())) return 0;
  std::uint64_t span = dtype_bytes(dtype);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    span += static_cast<std::uint64_t>(extents[axis] - 1) *
            static_cast<std::uint64_t>(strides_bytes[axis]);
  }
  return span;
}

expected<TensorLayout, Error> contiguous_layout(std::span<const std::int64_t> shape,
                                                DLDataType dtype) noexcept {
  auto layout = layout_of_shape(shape, dtype);
  if (!layout) return layout;
  const bool empty = has_no_elements(shape);
  auto packed = static_cast<std::int64_t>(dtype_bytes(dtype));
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    layout->strides_bytes[axis] = packed;
    // An empty tensor keeps the strides that one element along its empty axes would give.
    const std::int64_t extent = std::max<std::int64_t>(shape[axis], 1);
    const bool needed = axis > 0 || !empty;
    if (__builtin_mul_overflow(packed, extent, &packed) && needed) return span_overflow();
  }
  return layout;
}

expected<TensorLayout, Error> strided_layout(std::span<const std::int64_t> shape,
                                             std::span<const std::int64_t> byte_strides,
                                             DLDataType dtype) noexcept {
  auto layout = layout_of_shape(shape, dtype);
  if (!layout) return layout;
  if (byte_strides.size() != shape.size()) return refuse("TENSOR_STRIDES_MISMATCH");
  if (std::ranges::any_of(byte_strides, [](std::int64_t stride) { return stride < 0; })) {
    return refuse("TENSOR_STRIDE_NEGATIVE");
  }
  std::ranges::copy(byte_strides, layout->strides_bytes.begin());
  if (has_no_elements(shape)) return layout;
  auto span = static_cast<std::int64_t>(dtype_bytes(dtype));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[axis] - 1, byte_strides[axis], &reach) ||
        __builtin_add_overflow(span, reach, &span)) {
      return span_overflow();
    }
  }
  return layout;
}

}  // namespace weftline
