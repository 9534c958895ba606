// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "weftline/core/error.hpp"
#include "weftline/core/tensor_layout.hpp"
#include "weftline/cuda/device.hpp"
#include "weftline/tensor/dlpack_versioned.hpp"

// For who writes DLPack headers, or reads those of others: bindings of other languages. All is
// cold. An element's size is dtype_bytes().

namespace weftline {

/// The element type that NumPy and the CUDA array interface write as "<f4", "|b1" or "<c8": byte
/// order, kind (b, i, u, f, c) and bytes. kInvalidArgument (DLPACK_TYPESTR) for what is none;
/// kNotSupported (DLPACK_TYPESTR) for the other byte order, and for kinds and sizes that DLPack has
/// no number type for.
[[nodiscard]] expected<DLDataType, Error> dldatatype_from_typestr(std::string_view typestr);

/// DLPack's name for the memory that `pointer` points into, as `device` knows it
/// (Device::pointer_info()): the owner's number for device memory, which may be another device of
/// the same backend. kNotSupported (DLPACK_DEVICE_UNSUPPORTED) where DLPack has none.
[[nodiscard]] expected<DLDevice, Error> dldevice_from_pointer(const Device& device,
                                                              const void* pointer);

/// Packed row-major strides in elements, as DLPack counts them; an entry for each extent. Refused
/// as by contiguous_layout(), for elements of one byte.
[[nodiscard]] expected<std::array<std::int64_t, kMaximumTensorRank>, Error> calc_strides(
    std::span<const std::int64_t> shape);

/// Whether a DLTensor of that version must have strides. Before, null means packed.
[[nodiscard]] constexpr bool dlpack_version_requires_explicit_strides(
    DLPackVersion version) noexcept {
  return version.major > 1 || (version.major == 1 && version.minor >= 2);
}

/// A DLTensor with a shape and strides of its own. The bytes are not its own.
class OwnedDlTensor {
 public:
  OwnedDlTensor(const OwnedDlTensor&) = delete;
  OwnedDlTensor& operator=(const OwnedDlTensor&) = delete;
  ~OwnedDlTensor() = default;

  [[nodiscard]] const DLTensor& get() const noexcept { return tensor_; }

 private:
  friend expected<std::unique_ptr<OwnedDlTensor>, Error> copy_dl_tensor_with_owned_metadata(
      const DLTensor& tensor);
  OwnedDlTensor() noexcept = default;

  DLTensor tensor_{};
  std::array<std::int64_t, kMaximumTensorRank> shape_{};
  std::array<std::int64_t, kMaximumTensorRank> strides_{};
};

/// The same tensor with copies of its shape and strides, so that it outlives the arrays of whoever
/// made it. Missing strides are filled in. Nothing else is looked at: refused are a rank past
/// kMaximumTensorRank (DLPACK_RANK), a missing shape (DLPACK_FIELD_NULL), and what calc_strides()
/// refuses.
[[nodiscard]] expected<std::unique_ptr<OwnedDlTensor>, Error> copy_dl_tensor_with_owned_metadata(
    const DLTensor& tensor);

}  // namespace weftline
