// SPDX-License-Identifier: Apache-2.0
#include "dlpack_view.hpp"

#include <array>
#include <limits>
#include <span>
#include <string>

namespace weftline {
namespace {

auto refuse(std::string_view token, const std::string& what,
            ErrorCode code = ErrorCode::kInvalidArgument) {
  return fail(code, token, "DLPack tensor: " + what);
}

std::string name_of(DLDevice device) {
  const auto numbered = [&](const char* name) {
    return std::string(name) + ":" + std::to_string(device.device_id);
  };
  switch (device.device_type) {
    case kDLCPU:
      return "kDLCPU";
    case kDLCUDA:
      return numbered("kDLCUDA");
    case kDLCUDAHost:
      return "kDLCUDAHost";
    case kDLCUDAManaged:
      return "kDLCUDAManaged";
    case kDLExtDev:
      return numbered("kDLExtDev");
    default:
      return "device type " + std::to_string(static_cast<int>(device.device_type));
  }
}

expected<MemoryKind, Error> kind_of(DLDevice from, const Device* device) {
  const auto mismatch = [&](const std::string& wanted) {
    return refuse("DLPACK_DEVICE_MISMATCH",
                  "its memory is " + name_of(from) + ", and the device of the options is " +
                      (device != nullptr ? device->id().to_string() : "none") + "; give " + wanted);
  };
  const auto is = [&](DeviceKind kind) { return device != nullptr && device->id().kind == kind; };
  const auto has_number = [&] {
    return from.device_id >= 0 &&
           static_cast<std::uint64_t>(from.device_id) == device->id().ordinal;
  };
  switch (from.device_type) {
    case kDLCPU:
      if (device != nullptr) return mismatch("none");
      return MemoryKind::kHost;
    case kDLCUDAHost:
      if (device == nullptr) return mismatch("the device that it is pinned for");
      return MemoryKind::kPinnedHost;
    case kDLCUDA:
      if (!is(DeviceKind::kCuda) || !has_number()) return mismatch("that CUDA device");
      return MemoryKind::kCudaDevice;
    case kDLCUDAManaged:
      if (!is(DeviceKind::kCuda)) return mismatch("its CUDA device");
      return MemoryKind::kCudaManaged;
    case kDLExtDev:
      if (!is(DeviceKind::kEmulated) || !has_number()) return mismatch("that emulated device");
      return MemoryKind::kCudaDevice;
    default:
      return refuse("DLPACK_DEVICE_UNSUPPORTED",
                    "its memory is " + name_of(from) + "; copy it to the host or to CUDA first",
                    ErrorCode::kNotSupported);
  }
}

/// DLPack counts strides in elements; those of an axis that is never stepped along mean nothing.
expected<TensorLayout, Error> layout_of(const DLTensor& tensor) {
  const std::span shape(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  if (tensor.strides == nullptr) return contiguous_layout(shape, tensor.dtype);
  std::array<std::int64_t, kMaximumTensorRank> strides{};
  const auto element = static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t stride = shape[axis] > 1 ? tensor.strides[axis] : 1;
    if (__builtin_mul_overflow(stride, element, &strides[axis])) {
      return refuse("TENSOR_SPAN_OVERFLOW",
                    "stride " + std::to_string(stride) + " of axis " + std::to_string(axis) +
                        " times " + std::to_string(element) + " bytes is past 2^63",
                    ErrorCode::kArithmeticOverflow);
    }
  }
  return strided_layout(shape, std::span(strides).first(shape.size()), tensor.dtype);
}

expected<std::byte*, Error> data_of(const DLTensor& tensor, std::uint64_t span) {
  if (tensor.data == nullptr) {
    if (span == 0) return nullptr;
    return refuse("DLPACK_FIELD_NULL", "data is null for " + std::to_string(span) + " bytes");
  }
  const auto base = reinterpret_cast<std::uintptr_t>(tensor.data);
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(base, tensor.byte_offset, &begin) ||
      __builtin_add_overflow(begin, span, &end)) {
    return refuse("DLPACK_RANGE", "byte offset " + std::to_string(tensor.byte_offset) + " and " +
                                      std::to_string(span) +
                                      " bytes reach past the end of the address space");
  }
  // Not by arithmetic on the pointer: an empty tensor may have an offset from null.
  return reinterpret_cast<std::byte*>(begin);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

expected<void, Error> check_dlpack_shape(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > static_cast<int>(kMaximumTensorRank)) {
    return refuse("DLPACK_RANK", "ndim is " + std::to_string(tensor.ndim) +
                                     "; it must be from 0 to " +
                                     std::to_string(kMaximumTensorRank));
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) {
    return refuse("DLPACK_FIELD_NULL", "shape is null for ndim " + std::to_string(tensor.ndim));
  }
  return {};
}

expected<DlpackView, Error> read_dlpack(const DLTensor& tensor, Device* device) {
  DlpackView view;
  WEFTLINE_ASSIGN(view.memory_kind, kind_of(tensor.device, device));
  WEFTLINE_TRY(check_dlpack_shape(tensor));
  const std::uint64_t bits = std::uint64_t{tensor.dtype.bits} * tensor.dtype.lanes;
  if (bits == 0 || bits % 8 != 0) {
    return refuse("DLPACK_DTYPE", "an element has " + std::to_string(tensor.dtype.bits) +
                                      " bits in " + std::to_string(tensor.dtype.lanes) +
                                      " lanes; only whole bytes are supported");
  }
  auto layout = layout_of(tensor);
  if (!layout) {
    if (layout.error().message.empty()) {
      layout.error().message = "DLPack tensor of " + std::to_string(tensor.ndim) + " axes and " +
                               dtype_name(tensor.dtype) +
                               ": its extents or strides are negative or too large";
    }
    return forward_error(std::move(layout));
  }
  view.layout = *layout;
  WEFTLINE_ASSIGN(view.data, data_of(tensor, view.layout.byte_span()));
  return view;
}

expected<DLDevice, Error> dlpack_device(MemoryKind kind, DeviceId device) {
  const bool cuda = device.kind == DeviceKind::kCuda;
  const auto number = static_cast<int>(device.ordinal);
  switch (kind) {
    case MemoryKind::kHost:
      return DLDevice{kDLCPU, 0};
    case MemoryKind::kPinnedHost:
      return DLDevice{kDLCUDAHost, 0};
    case MemoryKind::kCudaDevice:
      return DLDevice{cuda ? kDLCUDA : kDLExtDev, number};
    case MemoryKind::kCudaManaged:
      if (cuda) return DLDevice{kDLCUDAManaged, number};
      return fail(ErrorCode::kNotSupported, "DLPACK_DEVICE_UNSUPPORTED",
                  "DLPack has no name for managed memory of " + device.to_string() +
                      "; use pinned or device memory");
    case MemoryKind::kUnknown:
      break;
  }
  return fail(ErrorCode::kNotSupported, "DLPACK_DEVICE_UNSUPPORTED",
              "DLPack has no name for memory of an unknown kind");
}

}  // namespace weftline
