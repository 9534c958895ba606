// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "weftline/core/error.hpp"
#include "weftline/core/memory_kind.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/tensor/dlpack_versioned.hpp"

namespace weftline {

/// What a DLTensor says, checked and in our terms.
struct DlpackView {
  MemoryKind memory_kind{MemoryKind::kUnknown};
  std::byte* data{nullptr};  ///< With the byte offset; null only for a tensor of no bytes.
  TensorLayout layout{};
};

/// Believes nothing but the pointers: a shape or strides that are not null have `ndim` values.
/// Refusals: see make_tensor_from_dlpack().
[[nodiscard]] expected<DlpackView, Error> read_dlpack(const DLTensor& tensor, Device* device);

/// Whether the rank is one that we have, and the shape there.
[[nodiscard]] expected<void, Error> check_dlpack_shape(const DLTensor& tensor);

/// DLPack's name for that memory, of that device where it belongs to one; kNotSupported
/// (DLPACK_DEVICE_UNSUPPORTED) where it has none.
[[nodiscard]] expected<DLDevice, Error> dlpack_device(MemoryKind kind, DeviceId device);

}  // namespace weftline
